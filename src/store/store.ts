/**
 * Where pages and records live. Writes are idempotent and fenced: a task's page and records belong to the highest lease
 * token that wrote them, so a repeated write changes nothing and a late one is refused.
 */
import type { Fields, Page } from "../domain/page.ts";
import type { TaskKind } from "../domain/task.ts";
import type { HistoryBook } from "./history-book.ts";
import type { JobArchive } from "./job-archive.ts";
import type { JobOwners } from "./job-owners.ts";
import type { KeyBook } from "./key-book.ts";
import type { MemoryWrite, PageMemory, Recall } from "./page-memory.ts";
import type { ScheduleBook } from "./schedule-book.ts";
import type { WebhookBook } from "./webhook-book.ts";

/** One lease of a task, from the grant to its result. */
export type Run = {
  worker: string;
  /** What was to be done with the page. */
  step: TaskKind;
  /** 1 for the first try. */
  attempt: number;
  leasedAt: number;
  endedAt: number;
};

export type PageWrite = {
  jobId: string;
  taskId: string;
  token: number;
  depth: number;
  page: Page;
  /** Who brought it and when; undefined where the job keeps no pages. */
  run: Run | undefined;
  /** Where the body is kept, if it is. */
  bodyRef: string | undefined;
  /** The same for what the page looked like in the browser. */
  screenshotRef: string | undefined;
  pdfRef: string | undefined;
  records: readonly Fields[];
  /** Records that failed their schema, kept apart with the reason. */
  invalid: readonly { fields: Fields; reason: string }[];
  /** In a recrawl: it was as its set remembered it. */
  unchanged?: boolean;
};

/** A lease that ended without a page. */
export type TryWrite = {
  jobId: string;
  taskId: string;
  token: number;
  /** Of the task, its step included. */
  url: string;
  run: Run;
  fate: TryFate;
  because: string;
  status: number | undefined;
  detail: string | undefined;
};

/** `passed`: well, and another task goes on with what was fetched. */
export const TRY_FATES = ["retry", "dead", "refused", "returned", "passed"] as const;
export type TryFate = (typeof TRY_FATES)[number];

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
  token: number;
  bodyRef: string | undefined;
  screenshotRef: string | undefined;
  pdfRef: string | undefined;
  records: number;
  invalid: number;
  unchanged: boolean;
};

/** A page with the lease that brought it. */
export type TracedPage = StoredPage & { run: Run | undefined };

/** Tries of a job that ended alike. */
export type TryGroup = {
  fate: TryFate;
  because: string;
  status: number | undefined;
  tries: number;
  /** The URL of one of them. */
  sample: string;
};

/** One task, of whichever job; or all tasks of a job for one page, its steps included. */
export type Sought = { taskId: string } | { jobId: string; url: string };

export type InvalidRecord = { id: number; taskId: string; url: string; fields: Fields; reason: string };

export interface Store {
  /**
   * Writes a batch in one transaction, durably, before it resolves. One verdict for each page. A try is refused without
   * a word where a later lease of its task has been told of, and so is a memory.
   */
  write(
    batch: readonly PageWrite[],
    tries?: readonly TryWrite[],
    memories?: readonly MemoryWrite[],
  ): Promise<readonly WriteVerdict[]>;
  /** For each in turn what its set remembers of the page; see page-memory.ts. */
  recall(asked: readonly Recall[]): Promise<readonly (PageMemory | undefined)[]>;
  /** All that a recrawl set remembers. */
  forgetSet(set: string): Promise<void>;
  /** Records with an id over `afterId`, in order. */
  readRecords(jobId: string, afterId: number, limit: number): Promise<readonly StoredRecord[]>;
  readPages(jobId: string, afterId: number, limit: number): Promise<readonly StoredPage[]>;
  readInvalid(jobId: string, afterId: number, limit: number): Promise<readonly InvalidRecord[]>;
  /** The page of that id, of whichever job; undefined where there is none, or a later lease has replaced it. */
  findPage(id: number): Promise<StoredPage | undefined>;
  /** The first `limit` records of the page of that id, in order; none where there is no such page. */
  readRecordsOfPage(id: number, limit: number): Promise<readonly StoredRecord[]>;
  countRecords(jobId: string): Promise<number>;
  /** Pages that a recrawl found as they were. */
  countUnchanged(jobId: string): Promise<number>;
  /** In the order they were written. */
  tracePages(sought: Sought): Promise<readonly TracedPage[]>;
  /** By task, in the order of its leases. */
  traceTries(sought: Sought): Promise<readonly TryWrite[]>;
  /** Pages of a job by how long their lease took, the longest first, of the newest 100,000. */
  slowestPages(jobId: string, limit: number): Promise<readonly TracedPage[]>;
  /** The most first, of the first 100,000 tries: enough to tell what goes wrong, and bounded. */
  groupTries(jobId: string, limit: number): Promise<readonly TryGroup[]>;
  close(): Promise<void>;
}

/** What the control plane itself must remember, beside pages and records. */
export type StoreBooks = {
  keys: KeyBook;
  owners: JobOwners;
  schedules: ScheduleBook;
  webhooks: WebhookBook;
  archive: JobArchive;
  history: HistoryBook;
};
