/**
 * Trawl from another program, or from a page in a browser: `connect(url)`, then submit jobs, follow them and read what
 * they bring. It needs nothing but `fetch`.
 */
import type { JobChange } from "../api/change-job.ts";
import type { ScrapeOut } from "../api/routes/scrape.ts";
import type { MeOut } from "../api/wire-keys.ts";
import type { JobOut, NewJobOut } from "../api/wire-types.ts";
import type { JobInput } from "../submit/job-schema.ts";
import { ApiError, isApiError } from "./api-error.ts";
import {
  createFleet,
  type DeadChoice,
  type DeadFilter,
  type ExplainTarget,
  type Fleet,
  type HistorySpan,
  type TraceTarget,
} from "./fleet.ts";
import { type Added, addTo, createJob, type Job, type JobEvent, type Listing, takenOf, URLS_MOST } from "./job.ts";
import { createKeys, type Keys, type MadeKey, type NewKey } from "./keys.ts";
import { listAll, queryOf, type Signal } from "./listing.ts";
import { createPage, type Page } from "./page.ts";
import { type ConnectOptions, createRequests, pause } from "./requests.ts";
import { createSchedules, type NewSchedule, type Schedules } from "./schedules.ts";
import { type VerifyOptions, verifyWebhook, WebhookError, type WebhookEvent } from "./verify-webhook.ts";

export {
  type Added,
  ApiError,
  type ConnectOptions,
  type DeadChoice,
  type DeadFilter,
  type ExplainTarget,
  type HistorySpan,
  isApiError,
  type Job,
  type JobChange,
  type JobEvent,
  type JobInput,
  type JobOut,
  type MadeKey,
  type NewKey,
  type NewSchedule,
  type Page,
  type TraceTarget,
  type VerifyOptions,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
};

/** A job as submitted, with what became of its URLs. */
export type SubmittedJob = Job &
  Added & {
    /** What events of its webhook are signed with, where the job brought no secret: told this once. */
    webhookSecret: string | null;
  };

export type SubmitOptions = {
  /** The same key again is the same job. Made anew unless given. */
  idempotencyKey?: string;
  /** Follows what comes of it through logs and `trawl trace`; made by the server unless given. */
  requestId?: string;
  signal?: AbortSignal;
};

/** Words that are in the name, the id or a URL of a job, and its state. */
export type JobFilter = { q?: string; state?: JobOut["state"] };

export type ScrapeWords = Omit<JobInput, "urls" | "follow" | "spider"> & { url: string; timeoutSeconds?: number };

export type Trawl = Fleet & {
  /** URLs, or a job as docs/jobs.md has it; with `open` more of its URLs are to come. Lists of any length. */
  submit(
    what: string | readonly string[] | (JobInput & { open?: boolean }),
    options?: SubmitOptions,
  ): Promise<SubmittedJob>;
  /** A job that is there already. */
  job(id: string): Job;
  /** Newest first; with `q` or `state` those alone. */
  jobs(options?: Signal & JobFilter & { page?: number }): AsyncGenerator<JobOut, void>;
  /** Some of them, for whoever pages through them. An answer may have few, or none, and a `next` all the same. */
  listJobs(options?: Signal & JobFilter & Listing): Promise<{ jobs: JobOut[]; next: string | null }>;
  /** A page of whichever job. */
  page(id: number): Page;
  /** One URL, its page and records. Throws ApiError SCRAPE_TIMEOUT, whose `problem.id` is the job that goes on. */
  scrape(what: string | ScrapeWords, options?: SubmitOptions): Promise<ScrapeOut>;
  /** Whose key this is, and what it may do. */
  me(options?: Signal): Promise<MeOut>;
  schedules: Schedules;
  /** Takes the scope admin. */
  keys: Keys;
};

export function connect(url = "http://127.0.0.1:7700", options: ConnectOptions = {}): Trawl {
  const requests = createRequests(url, options);

  const submit: Trawl["submit"] = async (what, { idempotencyKey = newKey(), requestId, signal } = {}) => {
    const { urls = [], open = false, ...job } = isJob(what) ? what : { urls: [what].flat() };
    const first = urls.slice(0, URLS_MOST);
    const isWhole = first.length === urls.length;
    const body = { ...job, urls: first, ...(open || !isWhole ? { open: true } : {}) };
    const headers = headersOf(idempotencyKey, requestId);
    for (;;) {
      const sending = requests.json<NewJobOut>("/v1/jobs", { method: "POST", body, headers, signal });
      const sent = await takenOf(sending);
      if (sent.retryAfterMs !== undefined) {
        // The broker is full: under the same key the request goes on where it was.
        await pause(sent.retryAfterMs, signal);
        continue;
      }
      const { id, accepted, duplicates, refused, refusedCount, webhookSecret = null } = sent;
      const made = createJob(requests, id);
      const counts = { accepted, duplicates, refused, refusedCount };
      if (isWhole) return { ...made, ...counts, webhookSecret };
      const rest = await made.add(urls.slice(URLS_MOST), { last: !open, ...(signal === undefined ? {} : { signal }) });
      addTo(counts, rest, first.length);
      return { ...made, ...counts, webhookSecret };
    }
  };

  return {
    submit,
    job: (id) => createJob(requests, id),
    jobs: ({ state, q, ...options } = {}) => listAll(requests, `/v1/jobs${queryOf({ state, q })}`, "jobs", options),
    listJobs: ({ signal, ...query } = {}) => requests.json(`/v1/jobs${queryOf(query)}`, { signal }),
    page: (id) => createPage(requests, id),
    scrape: (what, { idempotencyKey = newKey(), requestId, signal } = {}) =>
      requests.json<ScrapeOut>("/v1/scrape", {
        method: "POST",
        body: typeof what === "string" ? { url: what } : what,
        headers: headersOf(idempotencyKey, requestId),
        signal,
      }),
    ...createFleet(requests),
    me: ({ signal } = {}) => requests.json("/v1/me", { signal }),
    schedules: createSchedules(requests),
    keys: createKeys(requests),
  };
}

function isJob(what: string | readonly string[] | JobInput): what is JobInput & { open?: boolean } {
  return typeof what === "object" && !Array.isArray(what);
}

function headersOf(idempotencyKey: string, requestId: string | undefined): Record<string, string> {
  return { "idempotency-key": idempotencyKey, ...(requestId === undefined ? {} : { "x-request-id": requestId }) };
}

/** randomUUID is missing from pages that did not come over TLS. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
