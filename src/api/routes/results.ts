/** What a job has brought: its records, and the pages they are from. */
import { z } from "zod";
import { createRecordWriter } from "../../store/export/create-record-writer.ts";
import { csvLine } from "../../store/export/csv-cell.ts";
import { exportRecords } from "../../store/export/export-records.ts";
import { recordLine } from "../../store/export/record-line.ts";
import { type TextSink, writeLines } from "../../store/export/record-writer.ts";
import type { StoredPage } from "../../store/store.ts";
import { pickType } from "../accept.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { idFromCursor, toCursor } from "../cursor.ts";
import { type Answer, type Asked, defineRoute, type Route, type StreamAnswer } from "../route.ts";
import { streamText } from "../stream-text.ts";
import { pageOut, pageSchemaOut, recordSchemaOut } from "../wire-types.ts";

const TAG = "Results";
const id = z.strictObject({ id: z.string().min(1).max(100) });
const FORMATS = { json: "application/json", ndjson: "application/x-ndjson", csv: "text/csv" } as const;
const OFFERED = [FORMATS.json, FORMATS.ndjson, FORMATS.csv] as const;
const STREAMED = [FORMATS.ndjson, FORMATS.csv];
const SAYS =
  "JSON comes in pages. As application/x-ndjson or text/csv, by the Accept header or ?format=, all of it comes in one stream.";

const listing = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100).describe("Of a page of JSON."),
  cursor: z.string().max(1_000).optional().describe("`next` of the page before, or `after` of the last one."),
  format: z.enum(["json", "ndjson", "csv"]).optional().describe("In place of an Accept header."),
});
const going = {
  next: z.string().nullable().describe("The cursor of the next page; null where there is no more for now."),
  after: z.string().describe("The cursor of what is still to come, while the job runs."),
};

type Listing = z.output<typeof listing>;

export function resultRoutes(deps: ApiDeps): Route[] {
  const { store } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/records",
      scope: "read",
      tag: TAG,
      summary: "Read a job's records",
      says: SAYS,
      params: id,
      query: listing,
      answers: {
        200: {
          says: "Records, in the order they were written.",
          json: z.strictObject({ records: z.array(recordSchemaOut), ...going }),
          types: STREAMED,
        },
      },
      async handle({ params, query, headers, caller }) {
        await findOwnJob(deps, caller, params.id);
        const type = typeFor(query, headers);
        if (type !== FORMATS.json) return recordStream(deps, params.id, query, type);
        const found = await store.readRecords(params.id, idFromCursor(query.cursor), query.limit);
        return { status: 200, body: { records: found.map(recordLine), ...placesAfter(found, query) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/pages",
      scope: "read",
      tag: TAG,
      summary: "Read what is known of a job's pages",
      says: SAYS,
      params: id,
      query: listing,
      answers: {
        200: {
          says: "Pages, in the order they were written.",
          json: z.strictObject({ pages: z.array(pageSchemaOut), ...going }),
          types: STREAMED,
        },
      },
      async handle({ params, query, headers, caller }) {
        await findOwnJob(deps, caller, params.id);
        const type = typeFor(query, headers);
        if (type !== FORMATS.json) return pageStream(deps, params.id, query, type);
        const found = await store.readPages(params.id, idFromCursor(query.cursor), query.limit);
        return { status: 200, body: { pages: found.map(pageOut), ...placesAfter(found, query) } };
      },
    }),
  ];
}

function typeFor({ format }: Listing, { accept }: Asked["headers"]): (typeof OFFERED)[number] {
  return format === undefined ? pickType(accept, OFFERED) : FORMATS[format];
}

function placesAfter(found: readonly { id: number }[], { limit, cursor }: Listing) {
  const after = toCursor({ after: found.at(-1)?.id ?? idFromCursor(cursor) });
  return { next: found.length < limit ? null : after, after };
}

type Streamed = (typeof STREAMED)[number];

function recordStream({ store }: ApiDeps, jobId: string, { cursor }: Listing, type: Streamed): Answer {
  const afterId = idFromCursor(cursor);
  return streamed(`${jobId}-records`, type, async (sink) => {
    const writer = createRecordWriter(type === FORMATS.csv ? "csv" : "jsonl", sink, { columns: undefined });
    await exportRecords(store, jobId, writer, { afterId });
    await writer.end();
  });
}

const COLUMNS = Object.keys(pageSchemaOut.shape) as (keyof typeof pageSchemaOut.shape)[];
/** Pages held at a time. */
const BATCH = 500;

function pageStream({ store }: ApiDeps, jobId: string, { cursor }: Listing, type: Streamed): Answer {
  let afterId = idFromCursor(cursor);
  const lineOf = (page: StoredPage): string => {
    const out = pageOut(page);
    return type === FORMATS.csv ? csvLine(COLUMNS.map((name) => out[name])) : `${JSON.stringify(out)}\n`;
  };
  return streamed(`${jobId}-pages`, type, async (sink) => {
    if (type === FORMATS.csv) await sink.write(csvLine(COLUMNS));
    for (;;) {
      const found = await store.readPages(jobId, afterId, BATCH);
      await writeLines(sink, found.map(lineOf));
      afterId = found.at(-1)?.id ?? afterId;
      if (found.length < BATCH) return;
    }
  });
}

function streamed(name: string, type: Streamed, produce: (sink: TextSink) => Promise<void>): StreamAnswer {
  const file = `${name.replace(/[^\w.-]/g, "_")}.${type === FORMATS.csv ? "csv" : "jsonl"}`;
  return {
    status: 200,
    type: `${type}; charset=utf-8`,
    stream: streamText(produce),
    headers: { "content-disposition": `attachment; filename="${file}"` },
  };
}
