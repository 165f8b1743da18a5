/**
 * Polls broker and store once per interval and key, however many connections of this process subscribe to the key. It
 * polls only while there are subscribers. A slow subscriber gets the newest value with its next call; older values are
 * not kept. Each process polls on its own.
 */
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";

/** A polled value, and the number of the poll that read it. */
type Polled<T> = { value: T; version: number };

export type Subscription<T> = {
  /** The newest value after `version`; undefined if there is none within `waitMs`, or if `signal` aborts first. */
  next(version: number, waitMs: number, signal: AbortSignal): Promise<Polled<T> | undefined>;
  stop(): void;
};

export type SharedPoller = {
  /** All subscribers of a key share the `read` function of the first. */
  subscribe<T>(key: string, read: () => Promise<T>): Subscription<T>;
};

type Topic = {
  read: () => Promise<unknown>;
  subscribers: number;
  latest: Polled<unknown> | undefined;
  /** Wakes the subscribers that wait for the next value. */
  waiting: Set<() => void>;
};

/** The maximum number of topics that are read at the same time. */
const CONCURRENT_READS = 32;

/** An abort reason, never read. Without it, every poll would create a DOMException with a stack trace. */
const WOKEN = "there is a new value";

export function createSharedPoller(
  { clock, log }: { clock: Clock; log: Log },
  { everyMs }: { everyMs: number },
): SharedPoller {
  const topics = new Map<string, Topic>();
  let isPolling = false;

  async function poll(topic: Topic): Promise<void> {
    try {
      const value = await topic.read();
      topic.latest = { value, version: (topic.latest?.version ?? 0) + 1 };
    } catch (cause) {
      // The next round polls again. While the broker is unreachable, subscribers get heartbeats only.
      log.warn("api.poll_failed", { cause });
      return;
    }
    for (const wake of topic.waiting) wake();
  }

  /** Does not use AbortSignal.any: the signal of a long stream would keep a reference to the signal of every poll. */
  async function waitForValue({ waiting }: Topic, waitMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = () => woken.abort(WOKEN);
    waiting.add(wake);
    signal.addEventListener("abort", wake);
    await clock.sleep(waitMs, woken.signal);
    signal.removeEventListener("abort", wake);
    waiting.delete(wake);
  }

  async function pollWhileSubscribed(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    while (topics.size > 0) {
      const round = [...topics.values()];
      for (let from = 0; from < round.length; from += CONCURRENT_READS) {
        await Promise.all(round.slice(from, from + CONCURRENT_READS).map(poll));
      }
      await clock.sleep(everyMs);
    }
    isPolling = false;
  }

  return {
    subscribe<T>(key: string, read: () => Promise<T>): Subscription<T> {
      const topic: Topic = topics.get(key) ?? { read, subscribers: 0, latest: undefined, waiting: new Set() };
      topics.set(key, topic);
      topic.subscribers += 1;
      if (isPolling && topic.latest === undefined) void poll(topic); // do not wait for the next round
      void pollWhileSubscribed();
      let isStopped = false;
      return {
        async next(version, waitMs, signal) {
          const isNew = () => (topic.latest?.version ?? 0) > version;
          if (!isNew() && !signal.aborted) await waitForValue(topic, waitMs, signal);
          return isNew() && !signal.aborted ? (topic.latest as Polled<T>) : undefined;
        },
        stop() {
          if (isStopped) return;
          isStopped = true;
          topic.subscribers -= 1;
          if (topic.subscribers === 0) topics.delete(key);
        },
      };
    },
  };
}
