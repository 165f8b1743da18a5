/** The records of a job, or the invalid ones, with what is searched for in them. */
import type { JobOut } from "../../../../src/client/client.ts";
import { type Listing, useListing } from "../../listing.ts";
import { api } from "../../session.ts";
import type { Line } from "./fields-table.tsx";

/** As many as the server gives at once. */
const PAGE = 1_000;

export function useLines({ id, tally }: JobOut, what: "records" | "invalid", q: string | undefined): Listing<Line> {
  return useListing<Line>(
    async (cursor, signal) => {
      const asked = {
        limit: PAGE,
        ...(q === undefined ? {} : { q }),
        ...(cursor === undefined ? {} : { cursor }),
        signal,
      };
      const job = api().job(id);
      const { ids, next, looked, lines } =
        what === "records"
          ? await job.listRecords(asked).then(({ records, ...rest }) => ({ ...rest, lines: records }))
          : await job.listInvalid(asked).then(({ invalid, ...rest }) => ({ ...rest, lines: invalid }));
      return { rows: lines.map((fields, nth) => ({ id: ids[nth] ?? 0, fields })), next, looked };
    },
    // Of a job that has brought nothing yet the first are looked for as they come.
    [id, what, q, tally[what] > 0],
  );
}
