/** Page memory of recrawl sets in SQLite. Memories are written inside the transaction of their batch. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import { type MemoryWrite, memoryPageKey, type PageMemory, type Recall, toMemory } from "../page-memory.ts";
import { withoutNul } from "../rows.ts";

export type PageMemories = {
  /** Call before the transaction, because compression is slow. */
  toRow(write: MemoryWrite): readonly SqlValue[];
  insert(row: readonly SqlValue[]): void;
  recall(requests: readonly Recall[]): (PageMemory | undefined)[];
  forgetSet(set: string): void;
};

export function createPageMemories(db: Database): PageMemories {
  const sql = prepareAll<"remember" | "forgetOlder" | "recall" | "forgetSet">(
    db,
    new URL("./sql/memories.sql", import.meta.url),
  );
  return {
    toRow: ({ set, url, jobId, taskId, token, reads, etag, lastModified, fingerprint, content, fetchedAt }) => [
      set,
      memoryPageKey(url),
      jobId,
      taskId,
      token,
      reads,
      textOrNull(etag),
      textOrNull(lastModified),
      fingerprint ?? null,
      content === undefined ? null : deflateRawSync(content),
      fetchedAt,
    ],
    insert(row) {
      const [set = null, page = null, job = null] = row;
      if (sql.remember.run(...row).changes !== 0) sql.forgetOlder.run(set, page, job);
    },
    recall: (requests) =>
      requests.map(({ set, url, jobId }) => {
        const row = sql.recall.get(set, memoryPageKey(url), jobId);
        if (row === undefined) return undefined;
        const { content } = row;
        const text = content === null ? undefined : inflateRawSync(content as Uint8Array).toString("utf8");
        return toMemory(row, text);
      }),
    forgetSet: (set) => void sql.forgetSet.run(set),
  };
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : withoutNul(text);
}
