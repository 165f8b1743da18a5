/**
 * Trawl from another program, or from a page in a browser: `connect(url)`, then submit jobs, follow them and read what
 * they bring. It needs nothing but `fetch`.
 */
import type { ScrapeOut } from "../api/routes/scrape.ts";
import type { JobOut, SubmissionOut } from "../api/wire-types.ts";
import type { JobInput } from "../submit/job-schema.ts";
import { ApiError, isApiError } from "./api-error.ts";
import { type Added, createJob, type Job, type JobEvent, takenOf, URLS_MOST } from "./job.ts";
import { type ConnectOptions, createRequests, pause } from "./requests.ts";

export { type Added, ApiError, type ConnectOptions, isApiError, type Job, type JobEvent, type JobInput, type JobOut };

/** A job as submitted, with what became of its URLs. */
export type SubmittedJob = Job & Added;

export type SubmitOptions = {
  /** The same key again is the same job. Made anew unless given. */
  idempotencyKey?: string;
  signal?: AbortSignal;
};

export type ScrapeWords = Omit<JobInput, "urls" | "follow" | "spider"> & { url: string; timeoutSeconds?: number };

export type Trawl = {
  /** URLs, or a job as docs/jobs.md has it; with `open` more of its URLs are to come. Lists of any length. */
  submit(
    what: string | readonly string[] | (JobInput & { open?: boolean }),
    options?: SubmitOptions,
  ): Promise<SubmittedJob>;
  /** A job that is there already. */
  job(id: string): Job;
  /** Newest first. */
  jobs(options?: { signal?: AbortSignal }): AsyncGenerator<JobOut, void>;
  /** One URL, its page and records. Throws ApiError SCRAPE_TIMEOUT, whose `problem.id` is the job that goes on. */
  scrape(what: string | ScrapeWords, options?: SubmitOptions): Promise<ScrapeOut>;
};

export function connect(url = "http://127.0.0.1:7700", options: ConnectOptions = {}): Trawl {
  const requests = createRequests(url, options);

  const submit: Trawl["submit"] = async (what, { idempotencyKey = newKey(), signal } = {}) => {
    const { urls = [], open = false, ...job } = isJob(what) ? what : { urls: [what].flat() };
    const first = urls.slice(0, URLS_MOST);
    const isWhole = first.length === urls.length;
    const body = { ...job, urls: first, ...(open || !isWhole ? { open: true } : {}) };
    const headers = { "idempotency-key": idempotencyKey };
    for (;;) {
      const sending = requests.json<SubmissionOut>("/v1/jobs", { method: "POST", body, headers, signal });
      const sent = await idOf(sending);
      if (sent.retryAfterMs !== undefined) {
        // The broker is full: under the same key the request goes on where it was.
        await pause(sent.retryAfterMs, signal);
        continue;
      }
      const { id, accepted, duplicates, refused, refusedCount } = sent;
      const made = createJob(requests, id);
      const counts = { accepted, duplicates, refused, refusedCount };
      if (isWhole) return { ...made, ...counts };
      const rest = await made.add(urls.slice(URLS_MOST), { last: !open, ...(signal === undefined ? {} : { signal }) });
      return { ...made, ...sumOf(counts, rest, first.length) };
    }
  };

  return {
    submit,
    job: (id) => createJob(requests, id),
    async *jobs({ signal } = {}) {
      for (let cursor = ""; ; ) {
        const page = await requests.json<{ jobs: JobOut[]; next: string | null }>(`/v1/jobs?limit=500${cursor}`, {
          signal,
        });
        yield* page.jobs;
        if (page.next === null) return;
        cursor = `&cursor=${page.next}`;
      }
    },
    scrape: (what, { idempotencyKey = newKey(), signal } = {}) =>
      requests.json<ScrapeOut>("/v1/scrape", {
        method: "POST",
        body: typeof what === "string" ? { url: what } : what,
        headers: { "idempotency-key": idempotencyKey },
        signal,
      }),
  };
}

function isJob(what: string | readonly string[] | JobInput): what is JobInput & { open?: boolean } {
  return typeof what === "object" && !Array.isArray(what);
}

async function idOf(sending: Promise<SubmissionOut>): Promise<SubmissionOut & { retryAfterMs?: number }> {
  return (await takenOf(sending)) as SubmissionOut & { retryAfterMs?: number };
}

function sumOf(one: Added, other: Added, from: number): Added {
  return {
    accepted: one.accepted + other.accepted,
    duplicates: one.duplicates + other.duplicates,
    refusedCount: one.refusedCount + other.refusedCount,
    refused: [...one.refused, ...other.refused.map(({ index, ...rest }) => ({ index: index + from, ...rest }))],
  };
}

/** randomUUID is missing from pages that did not come over TLS. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
