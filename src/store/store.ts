/**
 * Storage of pages and records. Writes are idempotent and fenced: a task's page and records belong to the highest lease
 * token that wrote them. So a repeated write changes nothing, and a write with a lower token is rejected.
 */
import type { Fields, Page } from "../domain/page.ts";
import type { TaskKind } from "../domain/task.ts";
import type { HistoryStore } from "./history-store.ts";
import type { JobArchive } from "./job-archive.ts";
import type { JobOwners } from "./job-owners.ts";
import type { KeyStore } from "./key-store.ts";
import type { MemoryWrite, PageMemory, Recall } from "./page-memory.ts";
import type { ScheduleStore } from "./schedule-store.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** Who ran one lease of a task, and when. */
export type AttemptRun = {
  worker: string;
  /** The step of the page that the task was for. */
  step: TaskKind;
  /** 1 for the first attempt. */
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
  /** The attempt that fetched it; undefined if the job keeps no pages. */
  run: AttemptRun | undefined;
  /** Reference to the stored body, if the job keeps bodies. */
  bodyRef: string | undefined;
  /** References to the stored screenshot and PDF, if any. */
  screenshotRef: string | undefined;
  pdfRef: string | undefined;
  records: readonly Fields[];
  /** Records that failed schema validation, with the reason. */
  invalid: readonly { fields: Fields; reason: string }[];
  /** In a recrawl: the page has not changed since the last crawl of its set. */
  unchanged?: boolean;
};

/** An attempt that ended without a page. */
export type AttemptWrite = {
  jobId: string;
  taskId: string;
  token: number;
  /** The task's URL, including its step. */
  url: string;
  run: AttemptRun;
  outcome: AttemptOutcome;
  because: string;
  status: number | undefined;
  detail: string | undefined;
};

/** How an attempt without a page ended. `passed`: it succeeded, and another task continues with the fetched page. */
export const ATTEMPT_OUTCOMES = ["retry", "dead", "refused", "returned", "passed"] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

export type WriteVerdict = "written" | "stale";

/** One record of the output. */
export type StoredRecord = {
  /** Increases with every record. Readers use it as cursor. */
  id: number;
  jobId: string;
  taskId: string;
  url: string;
  status: number;
  fetchedAt: number;
  depth: number;
  /** Parsed on first use if `fieldsText` is known. */
  readonly fields: Fields;
  /** The fields as `JSON.stringify` writes them, if the store has them in this form. */
  fieldsText?: string;
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

/** A page with the attempt that fetched it. */
export type TracedPage = StoredPage & { run: AttemptRun | undefined };

/** Attempts of a job with the same outcome. */
export type AttemptGroup = {
  outcome: AttemptOutcome;
  because: string;
  status: number | undefined;
  count: number;
  /** The URL of one of the attempts. */
  sample: string;
};

/** One task of any job, or all tasks of a job for one page, including its steps. */
export type TaskQuery = { taskId: string } | { jobId: string; url: string };

export type InvalidRecord = { id: number; taskId: string; url: string; fields: Fields; reason: string };

export interface Store {
  /**
   * Writes a batch in one transaction. When it resolves, the batch is durable. Returns one verdict for each page. An
   * attempt or a memory is ignored if a later lease of its task has already written something.
   */
  write(
    batch: readonly PageWrite[],
    attempts?: readonly AttemptWrite[],
    memories?: readonly MemoryWrite[],
  ): Promise<readonly WriteVerdict[]>;
  /** For each request, the memory of the page in its set; see page-memory.ts. */
  recall(requests: readonly Recall[]): Promise<readonly (PageMemory | undefined)[]>;
  /** Removes all memories of a recrawl set. */
  forgetSet(set: string): Promise<void>;
  /** Records with an id above `afterId`, in order. */
  readRecords(jobId: string, afterId: number, limit: number): Promise<readonly StoredRecord[]>;
  readPages(jobId: string, afterId: number, limit: number): Promise<readonly StoredPage[]>;
  readInvalid(jobId: string, afterId: number, limit: number): Promise<readonly InvalidRecord[]>;
  /** The page with that id, of any job; undefined if there is none or a later lease has replaced it. */
  findPage(id: number): Promise<StoredPage | undefined>;
  /** The first `limit` records of a page, in order; empty if there is no such page. */
  readRecordsOfPage(id: number, limit: number): Promise<readonly StoredRecord[]>;
  countRecords(jobId: string): Promise<number>;
  /** Counts pages that a recrawl found unchanged. */
  countUnchanged(jobId: string): Promise<number>;
  /** Pages in the order they were written. */
  tracePages(target: TaskQuery): Promise<readonly TracedPage[]>;
  /** Attempts in the order of their tasks and leases. */
  traceAttempts(target: TaskQuery): Promise<readonly AttemptWrite[]>;
  /** The pages with the longest leases, longest first. Only the newest 100,000 pages of the job are read. */
  slowestPages(jobId: string, limit: number): Promise<readonly TracedPage[]>;
  /** Groups the attempts of a job, the largest group first. Only the first 100,000 attempts are read. */
  groupAttempts(jobId: string, limit: number): Promise<readonly AttemptGroup[]>;
  close(): Promise<void>;
}

/** State of the control plane, stored with pages and records. */
export type ControlStores = {
  keys: KeyStore;
  owners: JobOwners;
  schedules: ScheduleStore;
  webhooks: WebhookStore;
  archive: JobArchive;
  history: HistoryStore;
};
