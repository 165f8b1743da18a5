/**
 * Page memory: the data that a recrawl set stores about each of its pages. A later job of the set uses it to send
 * conditional requests and to detect unchanged pages. Every implementation passes
 * test/contracts/store/describe-memories.ts:
 *
 * M1 A memory is written in the same transaction as its page. It is not written if a later lease of its task has
 *    already written a page, an attempt or a memory.
 * M2 A job recalls the memory that preceded its own first memory of the page, even if the job has written the page
 *    again. So a task that runs again after a crash compares with the same memory as before.
 * M3 When a job writes its memory of a page, the store keeps that memory, the one before it and those after it. Older
 *    ones are removed.
 */
import { hash } from "node:crypto";
import type { Validators } from "../domain/validators.ts";

export type PageMemory = Validators & {
  /** The job that wrote it. */
  jobId: string;
  /** Hash of how the page was read: rules, spider, headers. A memory with another hash cannot be reused. */
  reads: string;
  /** Hash of the extracted content; undefined: the page was gone. */
  fingerprint: string | undefined;
  /** The extracted content as JSON; undefined if it was too large to keep. */
  content: string | undefined;
  fetchedAt: number;
};

/** Identifies a page of a set. `url` is the page's own URL, without a step. */
type MemoryKey = { set: string; url: string };

export type MemoryWrite = MemoryKey & PageMemory & { taskId: string; token: number };

/** A request for the memory of one page. */
export type Recall = MemoryKey & { jobId: string };

/**
 * The key of a page. It is a hash, because a URL may exceed the maximum size of an index entry. It has 126 bits, so
 * collisions are not expected.
 */
export function memoryPageKey(url: string): string {
  return hash("sha256", url, "base64url").slice(0, 21);
}

type Row = Readonly<Record<string, unknown>>;

/** Converts a row. Backends encode the content differently, so the caller decodes it. */
export function toMemory(row: Row, content: string | undefined): PageMemory {
  const text = (value: unknown) => (value === null ? undefined : String(value));
  return {
    jobId: String(row.job),
    reads: String(row.reads),
    etag: text(row.etag),
    lastModified: text(row.last_modified),
    fingerprint: text(row.fingerprint),
    content,
    fetchedAt: Number(row.fetched_at),
  };
}
