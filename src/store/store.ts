/**
 * Where pages and records live. Writes are idempotent and fenced: a task's page and records belong to the highest lease
 * token that wrote them, so a repeated write changes nothing and a late one is refused.
 */
import type { Fields, Page } from "../domain/page.ts";

export type PageWrite = {
  jobId: string;
  taskId: string;
  token: number;
  depth: number;
  page: Page;
  /** Where the body is kept, if it is. */
  bodyRef: string | undefined;
  records: readonly Fields[];
  /** Records that failed their schema, kept apart with the reason. */
  invalid: readonly { fields: Fields; reason: string }[];
};

export type WriteVerdict = "written" | "stale";

/** One line of the user's output. */
export type StoredRecord = {
  /** Grows; the cursor to read on from. */
  id: number;
  jobId: string;
  taskId: string;
  url: string;
  status: number;
  fetchedAt: number;
  depth: number;
  fields: Fields;
};

export type StoredPage = Page & {
  id: number;
  jobId: string;
  taskId: string;
  depth: number;
  bodyRef: string | undefined;
  records: number;
};

export type InvalidRecord = { id: number; taskId: string; url: string; fields: Fields; reason: string };

export interface Store {
  /** Writes a batch in one transaction, durably, before it resolves. One verdict each. */
  write(batch: readonly PageWrite[]): Promise<readonly WriteVerdict[]>;
  /** Records with an id over `afterId`, in order. */
  readRecords(jobId: string, afterId: number, limit: number): Promise<readonly StoredRecord[]>;
  readPages(jobId: string, afterId: number, limit: number): Promise<readonly StoredPage[]>;
  readInvalid(jobId: string, afterId: number, limit: number): Promise<readonly InvalidRecord[]>;
  countRecords(jobId: string): Promise<number>;
  close(): Promise<void>;
}
