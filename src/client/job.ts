/** One job of a server: its state, its results, and operations on it. */

import type { JobChange } from "../control/change-job.ts";
import { ApiError, isApiError } from "./api-error.ts";
import { listAll, queryOf, type Signal } from "./listing.ts";
import { readEvents } from "./read-events.ts";
import { pause, type Requests } from "./requests.ts";
import type * as Wire from "./wire-types.ts";
import type { JobInput, WebhookOut } from "./wire-types.ts";

export type JobEvent = { event: "job" | "end"; id: string | undefined; job: Wire.JobOut };

export type Job = {
  readonly id: string;
  state(options?: Signal): Promise<Wire.JobDetailOut>;
  /** Resolves when the job has ended. Reconnects after a lost connection. */
  wait(options?: Signal): Promise<Wire.JobOut>;
  /** The job after every change; the last event is `end`. */
  events(options?: Signal): AsyncGenerator<JobEvent, void>;
  /**
   * Yields records as they are stored, until the job has ended; with `follow: false` only the records that are already
   * stored. If a page is fetched again while you read, its records occur twice. To get each record once, read after the
   * job has ended.
   */
  records(options?: Signal & { follow?: boolean; q?: string }): AsyncGenerator<Wire.RecordOut, void>;
  /** Like `records`, for pages. */
  pages(options?: Signal & PageFilter & { follow?: boolean }): AsyncGenerator<Wire.PageOut, void>;
  /** One page of the listing; `cursor` is the `next` of the previous page. */
  listRecords(
    options?: Signal & Listing & { q?: string },
  ): Promise<Listed<"records", Wire.RecordOut> & { ids: number[] }>;
  listPages(options?: Signal & Listing & PageFilter): Promise<Listed<"pages", Wire.PageOut>>;
  listInvalid(
    options?: Signal & Listing & { q?: string },
  ): Promise<Listed<"invalid", Wire.InvalidOut> & { ids: number[] }>;
  /** All stored records as a file. If the connection breaks, the stream fails with an error. */
  download(
    format: "ndjson" | "csv" | "parquet",
    options?: Signal & { q?: string },
  ): Promise<ReadableStream<Uint8Array>>;
  /** Errors, grouped by reason. */
  errors(options?: Signal): Promise<Wire.JobErrorsOut>;
  /** The job in the form in which it can be submitted again, and the keys that you have to add. */
  spec(options?: Signal): Promise<Wire.WrittenJobOut>;
  /** The sites of the job, sorted by name. */
  sites(options?: Signal & { page?: number }): AsyncGenerator<Wire.JobSiteOut, void>;
  /** Invalid records, with the reason. */
  invalid(options?: Signal): AsyncGenerator<Wire.InvalidOut, void>;
  /**
   * Adds URLs to a job that was submitted with `open`; `last` seals the job. The list may have any length, and is read
   * while it is sent. Waits while the broker is full. If a response is lost, its URLs are sent again and count as
   * duplicates.
   */
  add(urls: Urls, options?: Signal & { last?: boolean }): Promise<Added>;
  /** Changes rate, priority or limits. */
  change(change: JobChange, options?: Signal): Promise<Wire.JobOut>;
  /** The state of the webhook. Throws ApiError NOT_FOUND if the job has no webhook. */
  webhook(options?: Signal): Promise<WebhookOut>;
  pause(options?: Signal): Promise<Wire.JobOut>;
  resume(options?: Signal): Promise<Wire.JobOut>;
  cancel(options?: Signal): Promise<Wire.JobOut>;
  /** Deletes the job and its results. A job that has not ended needs `cancel`. */
  delete(options?: Signal & { cancel?: boolean }): Promise<void>;
};

/** `q`: text that the URL contains. `status`: a status such as 404, or a class such as 4xx. */
export type PageFilter = { q?: string; status?: string };

export type Listing = { limit?: number; cursor?: string };

/** `searched`: the number of entries searched. A page may be short or empty and still have a `next`. */
export type Listed<K extends string, T> = { next: string | null; after: string; searched: number } & Record<K, T[]>;

/** A URL, or a request as in docs/jobs.md. */
export type UrlInput = NonNullable<JobInput["urls"]>[number];
export type Urls = Iterable<UrlInput> | AsyncIterable<UrlInput>;

/** The result of adding URLs. */
export type Added = Pick<Wire.SubmissionOut, "accepted" | "duplicates" | "refused" | "refusedCount">;

const PAGE = 500;
const POLL_MS = 500;
const RECONNECT_MS = 1_000;
/** URLs per request: well below the body limit of a server. */
export const MAX_URLS = 5_000;

export function createJob(requests: Requests, id: string): Job {
  const path = pathOf(id);
  const state = ({ signal }: Signal = {}) => requests.json<Wire.JobDetailOut>(path, { signal });
  const control = (verb: string, { signal }: Signal = {}) =>
    requests.json<Wire.JobOut>(`${path}/${verb}`, { method: "POST", signal });

  async function* events({ signal }: Signal = {}): AsyncGenerator<JobEvent, void> {
    for (let lastId: string | undefined; ; ) {
      const headers = lastId === undefined ? {} : { "last-event-id": lastId };
      const response = await requests.raw(`${path}/events`, { headers, signal });
      if (response.status === 204 || response.body === null) return;
      try {
        for await (const { event, id: eventId, text } of readEvents(response.body)) {
          yield { event: event as JobEvent["event"], id: eventId, job: JSON.parse(text) as Wire.JobOut };
          lastId = eventId ?? lastId;
          if (event === "end") return;
        }
      } catch (error) {
        // The connection was lost. The next one continues after the last event id.
        if (!(error instanceof TypeError)) throw error;
      }
      await pause(RECONNECT_MS, signal);
    }
  }

  async function wait(options?: Signal): Promise<Wire.JobOut> {
    for await (const { event, job } of events(options)) if (event === "end") return job;
    return state(options);
  }

  async function* follow<K extends "records" | "pages", T>(
    what: K,
    { signal, follow: isFollowed = true, ...filter }: Signal & PageFilter & { follow?: boolean } = {},
  ): AsyncGenerator<T, void> {
    let isOver = !isFollowed;
    for (let cursor: string | undefined; ; ) {
      const query = queryOf({ limit: PAGE, ...filter, cursor });
      const page = await requests.json<Listed<K, T>>(`${path}/${what}${query}`, { signal });
      yield* page[what];
      cursor = page.after;
      if (page.next !== null) continue;
      if (isOver) return;
      // Results are stored before the job ends, so one more read gets all of them.
      isOver = (await state(signal === undefined ? {} : { signal })).finishedAt !== null;
      if (!isOver) await pause(POLL_MS, signal);
    }
  }

  async function add(urls: Urls, { signal, last = false }: Signal & { last?: boolean } = {}): Promise<Added> {
    const sum: Added = { accepted: 0, duplicates: 0, refused: [], refusedCount: 0 };
    let from = 0;
    for await (const batch of batchesOf(urls)) {
      for (let done = 0; done < batch.length; ) {
        const sent = await sendUrls(requests, id, batch.slice(done), signal);
        addTo(sum, sent, from + done);
        done += sent.taken;
        if (sent.retryAfterMs !== undefined) await pause(sent.retryAfterMs, signal);
      }
      from += batch.length;
    }
    // A separate request: if the response to URLs with `last` were lost, the repeated request would find a sealed job.
    if (last) await sealJob(requests, id, signal);
    return sum;
  }

  return {
    id,
    state,
    wait,
    events,
    records: (options) => follow<"records", Wire.RecordOut>("records", options),
    pages: (options) => follow<"pages", Wire.PageOut>("pages", options),
    listRecords: ({ signal, ...query } = {}) => requests.json(`${path}/records${queryOf(query)}`, { signal }),
    listPages: ({ signal, ...query } = {}) => requests.json(`${path}/pages${queryOf(query)}`, { signal }),
    listInvalid: ({ signal, ...query } = {}) => requests.json(`${path}/invalid${queryOf(query)}`, { signal }),
    errors: ({ signal } = {}) => requests.json(`${path}/errors`, { signal }),
    spec: ({ signal } = {}) => requests.json(`${path}/spec`, { signal }),
    sites: (options) => listAll(requests, `${path}/sites`, "sites", options),
    invalid: (options) => listAll(requests, `${path}/invalid`, "invalid", options),
    async download(format, { signal, q } = {}) {
      const { body } = await requests.raw(`${path}/records${queryOf({ format, q })}`, { signal });
      return body ?? new ReadableStream({ start: (controller) => controller.close() });
    },
    add,
    change: (body, { signal } = {}) => requests.json(path, { method: "PATCH", body, signal }),
    webhook: ({ signal } = {}) => requests.json<WebhookOut>(`${path}/webhook`, { signal }),
    pause: (options) => control("pause", options),
    resume: (options) => control("resume", options),
    cancel: (options) => control("cancel", options),
    async delete({ cancel = false, signal } = {}) {
      // Not repeated: after a lost response, the second request would not find the job.
      await requests.json(`${path}?cancel=${cancel}`, { method: "DELETE", isOnce: true, signal });
    },
  };
}

async function* batchesOf(urls: Urls): AsyncGenerator<UrlInput[], void> {
  let batch: UrlInput[] = [];
  for await (const url of urls) {
    if (batch.push(url) < MAX_URLS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Sends one request. In the result, `taken` is the number of URLs processed. If URLs are left, `retryAfterMs` is the
 * time to wait before sending them.
 */
export function sendUrls(
  requests: Requests,
  id: string,
  urls: readonly UrlInput[],
  signal?: AbortSignal,
): Promise<Taken> {
  const lines = urls.map((url) => `${JSON.stringify(url)}\n`).join("");
  return takenOf(requests.json<Wire.SubmissionOut>(`${pathOf(id)}/urls`, { method: "POST", lines, signal }));
}

/** Seals the job. Repeating it has no effect. */
export async function sealJob(requests: Requests, id: string, signal?: AbortSignal): Promise<void> {
  await requests.json(`${pathOf(id)}/urls?last=true`, { method: "POST", body: { urls: [] }, signal });
}

/** Throws for ids that a URL parser removes from the path, because the request would then be sent to `/v1/jobs`. */
function pathOf(id: string): string {
  if (["", ".", ".."].includes(id)) {
    const problem = {
      code: "NOT_FOUND",
      detail: `no job ${JSON.stringify(id)}`,
      fix: "Use the id of an existing job: GET /v1/jobs lists all jobs.",
    };
    throw new ApiError(404, problem);
  }
  return `/v1/jobs/${encodeURIComponent(id)}`;
}

/** Adds `more` to `sum`. `from`: the position of the first URL of `more` in the whole list. */
export function addTo(sum: Added, more: Added, from: number): void {
  sum.accepted += more.accepted;
  sum.duplicates += more.duplicates;
  sum.refusedCount += more.refusedCount;
  sum.refused.push(...more.refused.map(({ index, ...rest }) => ({ index: index + from, ...rest })));
}

export type Taken = Added &
  Pick<Wire.SubmissionOut, "id" | "requestId" | "taken"> & { retryAfterMs?: number; webhookSecret?: string | null };

/** The result of a submission. If the broker is full or a quota is reached, it is read from the error response. */
export async function takenOf(sending: Promise<Wire.SubmissionOut>): Promise<Taken> {
  try {
    return await sending;
  } catch (error) {
    if (!isApiError(error, "BROKER_FULL", "QUOTA_REACHED")) throw error;
    const {
      id,
      requestId,
      accepted = 0,
      duplicates = 0,
      refusedCount = 0,
      taken,
      retryAfterMs = 1_000,
      webhookSecret = null,
    } = error.problem;
    if (taken === undefined || id === undefined) throw error;
    const progress = { id, requestId, accepted, duplicates, refusedCount, taken, retryAfterMs, webhookSecret };
    return { ...(progress as Omit<Taken, "refused">), refused: [] };
  }
}
