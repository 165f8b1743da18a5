import type { Store, StoredRecord } from "../store.ts";
import { type ColumnKind, type Columns, widen } from "./column-kind.ts";
import type { RecordWriter } from "./record-writer.ts";

type Records = Pick<Store, "readRecords">;

/** Records held at a time. */
const BATCH_MOST = 500;

/**
 * Writes a job's records past `afterId`, in order, and says where it came to: the next export may go on from `lastId`.
 * Of a job that still runs it writes what is there. A page that is fetched anew after its records were written comes
 * again under new ids: an output that must have each page once is written from 0, when the job has ended.
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
    // Later records may have fields that this header does not name.
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

/** Every field of the records past `afterId`, and what its values are. */
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
  let batch = await store.readRecords(jobId, afterId, BATCH_MOST);
  while (batch.length > 0) {
    yield batch;
    if (batch.length < BATCH_MOST) return;
    batch = await store.readRecords(jobId, batch.at(-1)?.id ?? afterId, BATCH_MOST);
  }
}
