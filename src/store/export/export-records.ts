import type { Store, StoredRecord } from "../store.ts";
import { type ColumnKind, type Columns, widen } from "./column-kind.ts";
import type { RecordWriter } from "./record-writer.ts";

type Records = Pick<Store, "readRecords">;

/** Records read per query. */
const MAX_BATCH = 500;

/**
 * Writes the records of a job with ids above `afterId`, in order. The next export can continue from the returned
 * `lastId`. For a running job it writes the records that exist. If a page is fetched again after its records were
 * exported, the new records have new ids and are exported too. For an output with each page once, export from 0 after
 * the job has ended.
 */
export async function exportRecords(
  store: Records,
  jobId: string,
  writer: Pick<RecordWriter, "begin" | "write">,
  { afterId }: { afterId: number },
): Promise<{ lastId: number; count: number }> {
  let upToId = Number.MAX_SAFE_INTEGER;
  await writer.begin(async () => {
    const found = await findColumns(store, jobId, afterId);
    // Records that are added later may have fields that are not in this header, so they are not exported.
    upToId = found.lastId;
    return found.columns;
  });
  let lastId = afterId;
  let count = 0;
  for await (const batch of batchesOf(store, jobId, afterId)) {
    const records = batch.filter(({ id }) => id <= upToId);
    await writer.write(records);
    lastId = records.at(-1)?.id ?? lastId;
    count += records.length;
    if (records.length < batch.length) break;
  }
  return { lastId, count };
}

/** All fields of the records after `afterId`, with the kinds of their values. */
async function findColumns(
  store: Records,
  jobId: string,
  afterId: number,
): Promise<{ columns: Columns; lastId: number }> {
  const columns = new Map<string, ColumnKind>();
  let lastId = afterId;
  for await (const batch of batchesOf(store, jobId, afterId)) {
    for (const { id, fields } of batch) {
      for (const [name, value] of Object.entries(fields)) columns.set(name, widen(columns.get(name) ?? "empty", value));
      lastId = id;
    }
  }
  return { columns, lastId };
}

async function* batchesOf(store: Records, jobId: string, afterId: number): AsyncIterable<readonly StoredRecord[]> {
  let batch = await store.readRecords(jobId, afterId, MAX_BATCH);
  while (batch.length > 0) {
    yield batch;
    if (batch.length < MAX_BATCH) return;
    batch = await store.readRecords(jobId, batch.at(-1)?.id ?? afterId, MAX_BATCH);
  }
}
