/** One job of a server: what it is doing, what it has brought, and how to steer it. */
import type { JobChange } from "../api/change-job.ts";
import type * as Wire from "../api/wire-types.ts";
import type { WebhookOut } from "../api/wire-webhooks.ts";
import { ApiError, isApiError } from "./api-error.ts";
import { listAll, queryOf, type Signal } from "./listing.ts";
import { readEvents } from "./read-events.ts";
import { pause, type Requests } from "./requests.ts";

export type JobEvent = { event: "job" | "end"; id: string | undefined; job: Wire.JobOut };

export type Job = {
  readonly id: string;
  state(options?: Signal): Promise<Wire.JobOut>;
  /** Resolves with the job once it has ended, whatever becomes of connections meanwhile. */
  wait(options?: Signal): Promise<Wire.JobOut>;
  /** The job each time it has changed; the last is `end`. */
  events(options?: Signal): AsyncGenerator<JobEvent, void>;
  /**
   * Records as they come, until the job has ended; with `follow: false` those that are there. A page that is fetched
   * again meanwhile brings its records again: for each of them once, ask when the job has ended.
   */
  records(options?: Signal & { follow?: boolean; q?: string }): AsyncGenerator<Wire.RecordOut, void>;
  /** The same for its pages. */
  pages(options?: Signal & PageFilter & { follow?: boolean }): AsyncGenerator<Wire.PageOut, void>;
  /** Some of them, for whoever pages through them: `cursor` is the `next` of the answer before. */
  listRecords(
    options?: Signal & Listing & { q?: string },
  ): Promise<Listed<"records", Wire.RecordOut> & { ids: number[] }>;
  listPages(options?: Signal & Listing & PageFilter): Promise<Listed<"pages", Wire.PageOut>>;
  listInvalid(
    options?: Signal & Listing & { q?: string },
  ): Promise<Listed<"invalid", Wire.InvalidOut> & { ids: number[] }>;
  /** All records that are there, as the bytes of a file. One that breaks off rejects, and does not end. */
  download(
    format: "ndjson" | "csv" | "parquet",
    options?: Signal & { q?: string },
  ): Promise<ReadableStream<Uint8Array>>;
  /** What went wrong, by reason. */
  errors(options?: Signal): Promise<Wire.JobErrorsOut>;
  /** The job as it can be submitted again, and what of it has to be given anew. */
  spec(options?: Signal): Promise<Wire.WrittenJobOut>;
  /** How it stands at each of its sites, by name. */
  sites(options?: Signal & { page?: number }): AsyncGenerator<Wire.JobSiteOut, void>;
  /** Records that failed their schema, with the reason. */
  invalid(options?: Signal): AsyncGenerator<Wire.InvalidOut, void>;
  /**
   * More URLs for a job that was submitted `open`; with `last` no more are to come. Of any length, read as they are
   * sent. Waits where the broker is full. URLs whose answer got lost are sent again, and counted as duplicates then.
   */
  add(urls: Urls, options?: Signal & { last?: boolean }): Promise<Added>;
  /** Another pace, priority or limits, while it runs. */
  change(change: JobChange, options?: Signal): Promise<Wire.JobOut>;
  /** What was delivered to its webhook, and what was not. Throws ApiError NOT_FOUND where it has none. */
  webhook(options?: Signal): Promise<WebhookOut>;
  pause(options?: Signal): Promise<Wire.JobOut>;
  resume(options?: Signal): Promise<Wire.JobOut>;
  cancel(options?: Signal): Promise<Wire.JobOut>;
  /** With all that came of it, for good. Of one that has not ended only with `cancel`. */
  delete(options?: Signal & { cancel?: boolean }): Promise<void>;
};

/** Which pages: by what is in their URL, and by status, such as 404 or 4xx. */
export type PageFilter = { q?: string; status?: string };

export type Listing = { limit?: number; cursor?: string };

/** `looked`: a search looks at so many at a time, and may find few, or none, and have a `next` all the same. */
export type Listed<K extends string, T> = { next: string | null; after: string; looked: number } & Record<K, T[]>;

export type Urls = Iterable<string> | AsyncIterable<string>;

/** What became of URLs. */
export type Added = Pick<Wire.SubmissionOut, "accepted" | "duplicates" | "refused" | "refusedCount">;

const PAGE = 500;
const LOOK_AGAIN_MS = 500;
const COME_BACK_MS = 1_000;
/** URLs in one request: well within what a server takes as one body. */
export const URLS_MOST = 5_000;

export function createJob(requests: Requests, id: string): Job {
  const path = pathOf(id);
  const state = ({ signal }: Signal = {}) => requests.json<Wire.JobOut>(path, { signal });
  const steer = (verb: string, { signal }: Signal = {}) =>
    requests.json<Wire.JobOut>(`${path}/${verb}`, { method: "POST", signal });

  async function* events({ signal }: Signal = {}): AsyncGenerator<JobEvent, void> {
    for (let lastId: string | undefined; ; ) {
      const headers = lastId === undefined ? {} : { "last-event-id": lastId };
      const answer = await requests.raw(`${path}/events`, { headers, signal });
      if (answer.status === 204 || answer.body === null) return;
      try {
        for await (const { event, id: eventId, text } of readEvents(answer.body)) {
          yield { event: event as JobEvent["event"], id: eventId, job: JSON.parse(text) as Wire.JobOut };
          lastId = eventId ?? lastId;
          if (event === "end") return;
        }
      } catch (error) {
        // Broken off: whoever answers next knows where it was.
        if (!(error instanceof TypeError)) throw error;
      }
      await pause(COME_BACK_MS, signal);
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
      // What was written before it ended is there when it has: one more look finds all of it.
      isOver = (await state(signal === undefined ? {} : { signal })).finishedAt !== null;
      if (!isOver) await pause(LOOK_AGAIN_MS, signal);
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
    // By itself: with the last URLs, to send it again after a lost answer would be too late for them.
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
    pause: (options) => steer("pause", options),
    resume: (options) => steer("resume", options),
    cancel: (options) => steer("cancel", options),
    async delete({ cancel = false, signal } = {}) {
      // Sent again, it would not find the job that it has deleted.
      await requests.json(`${path}?cancel=${cancel}`, { method: "DELETE", isOnce: true, signal });
    },
  };
}

async function* batchesOf(urls: Urls): AsyncGenerator<string[], void> {
  let batch: string[] = [];
  for await (const url of urls) {
    if (batch.push(url) < URLS_MOST) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** One request of them; `taken` says how many were dealt with, and `retryAfterMs` when to come with the rest. */
export function sendUrls(
  requests: Requests,
  id: string,
  urls: readonly string[],
  signal?: AbortSignal,
): Promise<Taken> {
  const lines = urls.map((url) => `${JSON.stringify(url)}\n`).join("");
  return takenOf(requests.json<Wire.SubmissionOut>(`${pathOf(id)}/urls`, { method: "POST", lines, signal }));
}

/** No more are to come. To say it again is harmless. */
export async function sealJob(requests: Requests, id: string, signal?: AbortSignal): Promise<void> {
  await requests.json(`${pathOf(id)}/urls?last=true`, { method: "POST", body: { urls: [] }, signal });
}

/** Of other ids nothing would be left in a path: it would lead to the list of jobs. */
function pathOf(id: string): string {
  if (["", ".", ".."].includes(id)) {
    const problem = {
      code: "NOT_FOUND",
      detail: `no job ${JSON.stringify(id)}`,
      fix: "Give the id of a job: GET /v1/jobs lists them.",
    };
    throw new ApiError(404, problem);
  }
  return `/v1/jobs/${encodeURIComponent(id)}`;
}

/** `from`: the place of the first of them in the whole list. */
export function addTo(sum: Added, more: Added, from: number): void {
  sum.accepted += more.accepted;
  sum.duplicates += more.duplicates;
  sum.refusedCount += more.refusedCount;
  sum.refused.push(...more.refused.map(({ index, ...rest }) => ({ index: index + from, ...rest })));
}

export type Taken = Added &
  Pick<Wire.SubmissionOut, "id" | "requestId" | "taken"> & { retryAfterMs?: number; webhookSecret?: string | null };

/** Where the broker is full, the answer says how many were taken all the same. */
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
    const told = { id, requestId, accepted, duplicates, refusedCount, taken, retryAfterMs, webhookSecret };
    return { ...(told as Omit<Taken, "refused">), refused: [] };
  }
}
