/** The results of a job: records, invalid records and pages. */
import { z } from "zod";
import { csvLine } from "../../store/export/csv-cell.ts";
import { exportRecords } from "../../store/export/export-records.ts";
import { openRecordWriter } from "../../store/export/open-record-writer.ts";
import { recordLine } from "../../store/export/record-line.ts";
import { writeLines } from "../../store/export/record-writer.ts";
import { type PageFilter, type ScanResult, scanInvalidRecords, scanPages, scanRecords } from "../../store/scan.ts";
import type { Store, StoredPage } from "../../store/store.ts";
import { pickType } from "../accept.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { idFromCursor, toCursor } from "../cursor.ts";
import { streamFrom } from "../response-stream.ts";
import { type ApiRequest, type ApiResponse, type ApiRoute, defineRoute, type StreamResponse } from "../route.ts";
import { invalidSchemaOut, pageOut, pageSchemaOut, recordSchemaOut } from "../wire/results.ts";

const TAG = "Results";
const id = z.strictObject({ id: z.string().min(1).max(100) });
const FORMATS = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
  parquet: "application/vnd.apache.parquet",
} as const;
const OFFERED = [FORMATS.json, FORMATS.ndjson, FORMATS.csv] as const;
const RECORDS_OFFERED = [...OFFERED, FORMATS.parquet] as const;
const STREAMED = [FORMATS.ndjson, FORMATS.csv];
const ENDINGS = { [FORMATS.ndjson]: "jsonl", [FORMATS.csv]: "csv", [FORMATS.parquet]: "parquet" } as const;
const DESCRIPTION =
  "JSON is paginated. application/x-ndjson and text/csv return everything in one stream. Select the format with the Accept header or ?format=.";

const listing = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).default(100).describe("Entries per JSON page."),
  cursor: z.string().max(1_000).optional().describe("`next` of the previous page, or `after` of the last page."),
  format: z.enum(["json", "ndjson", "csv"]).optional().describe("Instead of an Accept header."),
});
const pageListing = listing.extend({
  q: z.string().max(500).optional().describe("Text in the URL. Case is ignored."),
  status: z
    .string()
    .regex(/^[1-9]([0-9][0-9]|xx)$/, "takes a status such as 404, or a class such as 4xx")
    .transform((text) => Number.parseInt(text, 10))
    .optional()
    .meta({ examples: ["404", "5xx"] }),
});
const recordListing = listing.extend({
  q: z.string().max(500).optional().describe("Text in a value or the URL. Case is ignored."),
  format: z.enum(["json", "ndjson", "csv", "parquet"]).optional().describe("Instead of an Accept header."),
  afterId: z.coerce.number().int().min(0).optional().describe("Instead of a cursor: return the entries after this id."),
});
const ids = z
  .array(z.int())
  .describe("The ids of the entries, ascending. Records of a page that is fetched again get new ids.");
const cursors = {
  next: z.string().nullable().describe("The cursor of the next page. null: there are no more entries for now."),
  after: z.string().describe("The cursor for entries that are added later."),
  searched: z
    .int()
    .describe(
      "The number of entries searched. A request searches up to 5,000, so a page may be short and still have a `next`.",
    ),
};

type Listing = z.output<typeof listing>;
type RecordListing = z.output<typeof recordListing>;
type PageListing = z.output<typeof pageListing>;

export function resultRoutes(deps: ApiDeps): ApiRoute[] {
  const { store } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/records",
      scope: "read",
      tag: TAG,
      summary: "Read a job's records",
      description: `${DESCRIPTION} A Parquet response (${FORMATS.parquet}) starts only after the server has read all records once, to find the column types.`,
      params: id,
      query: recordListing,
      responses: {
        200: {
          description: "Records, in the order they were written.",
          json: z.strictObject({ records: z.array(recordSchemaOut), ids, ...cursors }),
          types: [...STREAMED, FORMATS.parquet],
        },
      },
      async handle({ params, query, headers, caller }) {
        await findOwnJob(deps, caller, params.id);
        const type = query.format === undefined ? pickType(headers.accept, RECORDS_OFFERED) : FORMATS[query.format];
        if (type !== FORMATS.json) return recordStream(deps, params.id, query, type);
        const place = { afterId: afterIdOf(query), limit: query.limit };
        const read = () => store.readRecords(params.id, place.afterId, place.limit);
        const { found, ...cursors } = await readListing(query.q, place, read, (text) =>
          scanRecords(store, params.id, text, place),
        );
        return { status: 200, body: { records: found.map(recordLine), ids: found.map((one) => one.id), ...cursors } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/invalid",
      scope: "read",
      tag: TAG,
      summary: "Read the invalid records of a job, with the reason",
      params: id,
      query: recordListing.omit({ format: true }),
      responses: {
        200: {
          description: "Invalid records, in the order they were written.",
          json: z.strictObject({ invalid: z.array(invalidSchemaOut), ids, ...cursors }),
        },
      },
      async handle({ params, query, caller }) {
        await findOwnJob(deps, caller, params.id);
        const place = { afterId: afterIdOf(query), limit: query.limit };
        const read = () => store.readInvalid(params.id, place.afterId, place.limit);
        const { found, ...cursors } = await readListing(query.q, place, read, (text) =>
          scanInvalidRecords(store, params.id, text, place),
        );
        const invalid = found.map(({ url, reason, fields }) => ({ ...fields, _url: url, _reason: reason }));
        return { status: 200, body: { invalid, ids: found.map((one) => one.id), ...cursors } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/pages",
      scope: "read",
      tag: TAG,
      summary: "Read a job's pages",
      description: DESCRIPTION,
      params: id,
      query: pageListing,
      responses: {
        200: {
          description: "Pages, in the order they were written.",
          json: z.strictObject({ pages: z.array(pageSchemaOut), ...cursors }),
          types: STREAMED,
        },
      },
      async handle({ params, query, headers, caller }) {
        await findOwnJob(deps, caller, params.id);
        const type = typeFor(query, headers);
        if (type !== FORMATS.json) return pageStream(deps, params.id, query, type);
        const place = { afterId: idFromCursor(query.cursor), limit: query.limit };
        const read = () => store.readPages(params.id, place.afterId, place.limit);
        const filter = pageFilterOf(query);
        const { found, ...cursors } = await readListing(filter, place, read, (which) =>
          scanPages(store, params.id, which, place),
        );
        return { status: 200, body: { pages: found.map(pageOut), ...cursors } };
      },
    }),
  ];
}

function afterIdOf({ cursor, afterId }: Pick<RecordListing, "cursor" | "afterId">): number {
  return afterId ?? idFromCursor(cursor);
}

function typeFor({ format }: Listing, { accept }: ApiRequest["headers"]): (typeof OFFERED)[number] {
  return format === undefined ? pickType(accept, OFFERED) : FORMATS[format];
}

function pageFilterOf({ q, status }: PageListing): PageFilter | undefined {
  return q === undefined && status === undefined ? undefined : { text: q, status };
}

/** One page of a listing, filtered if `filter` is set, and the cursors to continue. */
async function readListing<T extends { id: number }, F>(
  filter: F | undefined,
  { afterId, limit }: { afterId: number; limit: number },
  read: () => Promise<readonly T[]>,
  search: (filter: F) => Promise<ScanResult<T>>,
) {
  const { found, lastId, scanned, isEnd } = filter === undefined ? asScanResult(await read()) : await search(filter);
  const after = toCursor({ after: lastId });
  return { found, next: isEnd ? null : after, after, searched: scanned };

  function asScanResult(found: readonly T[]): ScanResult<T> {
    return { found, lastId: found.at(-1)?.id ?? afterId, scanned: found.length, isEnd: found.length < limit };
  }
}

/**
 * A view of the store with only the records that contain the text. Searches until `limit` are found or the records end.
 */
function searching(store: Pick<Store, "readRecords">, text: string): Pick<Store, "readRecords"> {
  return {
    async readRecords(jobId, afterId, limit) {
      const all: Awaited<ReturnType<Store["readRecords"]>>[number][] = [];
      for (let from = afterId; ; ) {
        const { found, lastId, isEnd } = await scanRecords(store, jobId, text, {
          afterId: from,
          limit: limit - all.length,
        });
        all.push(...found);
        if (isEnd || all.length >= limit) return all;
        from = lastId;
      }
    },
  };
}

type Streamed = keyof typeof ENDINGS;

function recordStream({ store }: ApiDeps, jobId: string, query: RecordListing, type: Streamed): ApiResponse {
  const afterId = afterIdOf(query);
  return streamed(`${jobId}-records`, type, async (sink, isClosed) => {
    const all = whileConnected(store, isClosed);
    const records = query.q === undefined ? all : searching(all, query.q);
    const writer = await openRecordWriter(ENDINGS[type], sink, { columns: undefined });
    await exportRecords(records, jobId, writer, { afterId });
    await writer.end();
  });
}

const COLUMNS = Object.keys(pageSchemaOut.shape) as (keyof typeof pageSchemaOut.shape)[];
/** The maximum number of pages in memory at a time. */
const BATCH = 500;

function pageStream({ store }: ApiDeps, jobId: string, query: PageListing, type: Streamed): ApiResponse {
  let afterId = idFromCursor(query.cursor);
  const filter = pageFilterOf(query) ?? {};
  const lineOf = (page: StoredPage): string => {
    const out = pageOut(page);
    return type === FORMATS.csv ? csvLine(COLUMNS.map((name) => out[name])) : `${JSON.stringify(out)}\n`;
  };
  return streamed(`${jobId}-pages`, type, async (sink, isClosed) => {
    const all = whileConnected(store, isClosed);
    if (type === FORMATS.csv) await sink.write(csvLine(COLUMNS));
    for (;;) {
      const { found, lastId, isEnd } = await scanPages(all, jobId, filter, { afterId, limit: BATCH });
      await writeLines(sink, found.map(lineOf));
      afterId = lastId;
      if (isEnd) return;
    }
  });
}

/**
 * A view of the store whose reads throw after the client has disconnected. A search without results writes nothing, so
 * it would not notice the lost connection.
 */
function whileConnected(store: Store, isClosed: () => boolean): Pick<Store, "readRecords" | "readPages"> {
  const checkConnected = () => {
    if (isClosed()) throw new Error("the client has disconnected");
  };
  return {
    async readRecords(...args) {
      checkConnected();
      return store.readRecords(...args);
    },
    async readPages(...args) {
      checkConnected();
      return store.readPages(...args);
    },
  };
}

function streamed(name: string, type: Streamed, produce: Parameters<typeof streamFrom>[0]): StreamResponse {
  const file = `${name.replace(/[^\w.-]/g, "_")}.${ENDINGS[type]}`;
  return {
    status: 200,
    type: type === FORMATS.parquet ? type : `${type}; charset=utf-8`,
    stream: streamFrom(produce),
    headers: { "content-disposition": `attachment; filename="${file}"` },
  };
}
