/**
 * What a recrawl set remembers of its pages, in the store beside them: a later job of the set asks the site only whether a
 * page has changed. Every implementation passes test/contracts/store/describe-memories.ts:
 *
 * M1 Memories are written with the pages they are of, in one transaction. One of a lease whose task a later lease has told
 *    of, by a page, a try or a memory, changes nothing.
 * M2 A job recalls what was remembered before it wrote its own first memory of the page, however often it has written since:
 *    a task that runs again after a crash compares with what it compared with before.
 * M3 Of a page at most the job's own memory, the one before and those after it are kept.
 */
import { hash } from "node:crypto";
import type { Validators } from "../domain/validators.ts";

export type PageMemory = Validators & {
  /** Of the job that wrote it. */
  jobId: string;
  /** Stands for how the page was read: rules, spider, headers. What was read in another way cannot be taken over. */
  reads: string;
  /** Stands for what was read; undefined: the page was gone. */
  fingerprint: string | undefined;
  /** JSON of what was read; undefined where it was too much to keep. */
  content: string | undefined;
  fetchedAt: number;
};

/** Which page of which set. `url` is the page's own, without a step. */
export type MemoryKey = { set: string; url: string };

export type MemoryWrite = MemoryKey & PageMemory & { taskId: string; token: number };

/** What a job wants to know. */
export type Recall = MemoryKey & { jobId: string };

/** A URL may be longer than an index takes. 126 bits: no two pages of any set share them by chance. */
export function memoryPage(url: string): string {
  return hash("sha256", url, "base64url").slice(0, 21);
}

type Row = Readonly<Record<string, unknown>>;

/** As every backend has it in its rows, but for the content. */
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
