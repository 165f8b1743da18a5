/** The valid or invalid records of a job that match a search. */
import type { JobOut } from "../../../../src/client/client.ts";
import { type PagedRows, usePagedRows } from "../../paged-rows.ts";
import { api } from "../../session.ts";
import type { RecordRow } from "./records-table.tsx";

/** The maximum that the API allows. */
const PAGE_RECORDS = 1_000;

export function useRecordRows(
  { id, tally }: JobOut,
  what: "records" | "invalid",
  q: string | undefined,
): PagedRows<RecordRow> {
  return usePagedRows<RecordRow>(
    async (cursor, signal) => {
      const query = {
        limit: PAGE_RECORDS,
        ...(q === undefined ? {} : { q }),
        ...(cursor === undefined ? {} : { cursor }),
        signal,
      };
      const job = api().job(id);
      const { ids, next, searched, records } =
        what === "records"
          ? await job.listRecords(query)
          : await job.listInvalid(query).then(({ invalid, ...rest }) => ({ ...rest, records: invalid }));
      return { rows: records.map((fields, nth) => ({ id: ids[nth] ?? 0, fields })), next, searched };
    },
    // Reloads when the first record arrives.
    [id, what, q, tally[what] > 0],
  );
}
