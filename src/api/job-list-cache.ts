/**
 * Caches pages of the job list as encoded JSON, because many clients poll the same page. Measured: a request for 50
 * jobs takes 2 ms of CPU time on SQLite and 4 ms on Redis without the cache, and 0.1 to 0.3 ms with it.
 *
 * A cached page is at most `maxAgeMs` old. A change through this server is visible at once: it drops all pages,
 * including those that are being read.
 */
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";

export type JobListCache = {
  /** The page of `key`. `read` is called if the cache does not have it. */
  page(key: string, read: () => Promise<unknown>): Promise<Uint8Array>;
  clear(): void;
};

type JobListCacheOptions = { maxAgeMs: number; maxEntries: number };

export function createJobListCache(
  { now }: { now: () => number },
  { maxAgeMs, maxEntries }: JobListCacheOptions,
): JobListCache {
  let pages = new Map<string, { page: Promise<Uint8Array>; readAt: number }>();

  return {
    page(key, read) {
      const cached = pages.get(key);
      if (cached !== undefined && now() - cached.readAt < maxAgeMs) return cached.page;
      const readIn = pages;
      const readAt = now();
      const entry = { page: read().then(encode), readAt };
      readIn.delete(key); // so that the new entry is the last one
      readIn.set(key, entry);
      const oldest = readIn.keys().next().value;
      if (readIn.size > maxEntries && oldest !== undefined) readIn.delete(oldest);
      entry.page.catch(() => {
        if (readIn.get(key) === entry) readIn.delete(key);
      });
      return entry.page;
    },
    clear() {
      pages = new Map();
    },
  };
}

/** Pages are encoded once, because encoding 50 jobs takes as long as sending them. */
function encode(page: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(page));
}

type Changes = Pick<Frontier, "createJob" | "enqueue" | "seal"> &
  Pick<
    FrontierAdmin,
    "forgetJob" | "pause" | "resume" | "cancel" | "setPriority" | "setPolicy" | "setLimits" | "replayDead"
  >;

/** A frontier that calls `onChange` after every call that may change a job. */
export function withChangeListener<F extends Changes>(frontier: F, onChange: () => void): F {
  async function changing<T>(change: Promise<T>): Promise<T> {
    try {
      return await change;
    } finally {
      onChange(); // a call that failed may have changed the job
    }
  }
  const changes: Changes = {
    createJob: (...args) => changing(frontier.createJob(...args)),
    enqueue: (...args) => changing(frontier.enqueue(...args)),
    seal: (...args) => changing(frontier.seal(...args)),
    forgetJob: (...args) => changing(frontier.forgetJob(...args)),
    pause: (...args) => changing(frontier.pause(...args)),
    resume: (...args) => changing(frontier.resume(...args)),
    cancel: (...args) => changing(frontier.cancel(...args)),
    setPriority: (...args) => changing(frontier.setPriority(...args)),
    setPolicy: (...args) => changing(frontier.setPolicy(...args)),
    setLimits: (...args) => changing(frontier.setLimits(...args)),
    replayDead: (...args) => changing(frontier.replayDead(...args)),
  };
  // All other methods are inherited from `frontier`.
  return Object.assign(Object.create(frontier), changes) as F;
}
