/** One job of a server: what it is doing, what it has brought, and how to steer it. */
import type { JobOut, PageOut, RecordOut, SubmissionOut } from "../api/wire-types.ts";
import { isApiError } from "./api-error.ts";
import { readEvents } from "./read-events.ts";
import { pause, type Requests } from "./requests.ts";

type Signal = { signal?: AbortSignal };

export type JobEvent = { event: "job" | "end"; id: string | undefined; job: JobOut };

export type Job = {
  readonly id: string;
  state(): Promise<JobOut>;
  /** Resolves with the job once it has ended, whatever becomes of connections meanwhile. */
  wait(options?: Signal): Promise<JobOut>;
  /** The job each time it has changed; the last is `end`. */
  events(options?: Signal): AsyncGenerator<JobEvent, void>;
  /**
   * Records as they come, until the job has ended; with `follow: false` those that are there. A page that is fetched
   * again meanwhile brings its records again: for each of them once, ask when the job has ended.
   */
  records(options?: Signal & { follow?: boolean }): AsyncGenerator<RecordOut, void>;
  /** The same for its pages. */
  pages(options?: Signal & { follow?: boolean }): AsyncGenerator<PageOut, void>;
  /** More URLs for a job that was submitted `open`; with `last` no more are to come. Waits where the broker is full. */
  add(urls: readonly string[], options?: Signal & { last?: boolean }): Promise<Added>;
  pause(): Promise<JobOut>;
  resume(): Promise<JobOut>;
  cancel(): Promise<JobOut>;
};

/** What became of URLs. */
export type Added = Pick<SubmissionOut, "accepted" | "duplicates" | "refused" | "refusedCount">;

type Page<K extends string, T> = { next: string | null; after: string } & Record<K, T[]>;

const PAGE = 500;
const LOOK_AGAIN_MS = 500;
const COME_BACK_MS = 1_000;
/** URLs in one request: well within what a server takes as one body. */
export const URLS_MOST = 5_000;

export function createJob(requests: Requests, id: string): Job {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  const state = () => requests.json<JobOut>(path);
  const steer = (verb: string) => requests.json<JobOut>(`${path}/${verb}`, { method: "POST" });

  async function* events({ signal }: Signal = {}): AsyncGenerator<JobEvent, void> {
    for (let lastId: string | undefined; ; ) {
      const headers = lastId === undefined ? {} : { "last-event-id": lastId };
      const answer = await requests.raw(`${path}/events`, { headers, signal });
      if (answer.status === 204 || answer.body === null) return;
      try {
        for await (const { event, id: eventId, text } of readEvents(answer.body)) {
          yield { event: event as JobEvent["event"], id: eventId, job: JSON.parse(text) as JobOut };
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

  async function wait(options?: Signal): Promise<JobOut> {
    for await (const { event, job } of events(options)) if (event === "end") return job;
    return state();
  }

  async function* follow<K extends "records" | "pages", T>(
    what: K,
    { signal, follow: isFollowed = true }: Signal & { follow?: boolean } = {},
  ): AsyncGenerator<T, void> {
    let isOver = !isFollowed;
    for (let cursor: string | undefined; ; ) {
      const at = cursor === undefined ? "" : `&cursor=${cursor}`;
      const page = await requests.json<Page<K, T>>(`${path}/${what}?limit=${PAGE}${at}`, { signal });
      yield* page[what];
      cursor = page.after;
      if (page.next !== null) continue;
      if (isOver) return;
      // What was written before it ended is there when it has: one more look finds all of it.
      isOver = (await state()).finishedAt !== null;
      if (!isOver) await pause(LOOK_AGAIN_MS, signal);
    }
  }

  async function add(
    urls: readonly string[],
    { signal, last = false }: Signal & { last?: boolean } = {},
  ): Promise<Added> {
    const sum: Added = { accepted: 0, duplicates: 0, refused: [], refusedCount: 0 };
    for (let from = 0; from === 0 || from < urls.length; ) {
      const batch = urls.slice(from, from + URLS_MOST);
      const isLast = last && from + batch.length >= urls.length;
      const send = { method: "POST", body: { urls: batch }, signal };
      const sent = await takenOf(requests.json<SubmissionOut>(`${path}/urls?last=${isLast}`, send));
      sum.accepted += sent.accepted;
      sum.duplicates += sent.duplicates;
      sum.refusedCount += sent.refusedCount;
      sum.refused.push(...sent.refused.map(({ index, ...rest }) => ({ index: index + from, ...rest })));
      if (sent.retryAfterMs !== undefined) await pause(sent.retryAfterMs, signal);
      from += sent.taken;
      if (batch.length === 0) return sum;
    }
    return sum;
  }

  return {
    id,
    state,
    wait,
    events,
    records: (options) => follow<"records", RecordOut>("records", options),
    pages: (options) => follow<"pages", PageOut>("pages", options),
    add,
    pause: () => steer("pause"),
    resume: () => steer("resume"),
    cancel: () => steer("cancel"),
  };
}

type Taken = Added & { taken: number; retryAfterMs?: number };

/** Where the broker is full, the answer says how many were taken all the same. */
export async function takenOf(sending: Promise<SubmissionOut>): Promise<Taken> {
  try {
    return await sending;
  } catch (error) {
    if (!isApiError(error, "BROKER_FULL", "QUOTA_REACHED")) throw error;
    const { accepted = 0, duplicates = 0, refusedCount = 0, taken, retryAfterMs = 1_000 } = error.problem;
    if (taken === undefined) throw error;
    const counts = { accepted, duplicates, refusedCount, taken, retryAfterMs } as Omit<Taken, "refused">;
    return { ...counts, refused: [] };
  }
}
