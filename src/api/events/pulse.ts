/**
 * One look at broker and store for everybody of this process who follows the same thing, however many they are. Looks are
 * taken in rounds, `everyMs` apart, only while somebody follows; a follower that is slow finds the newest when it comes
 * back, and nothing is kept for it meanwhile. Nothing of it is shared between processes: what is seen is, in the broker.
 */
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";

/** What was seen, and the how-manieth look it was. */
export type Seen<T> = { value: T; nth: number };

export type Following<T> = {
  /** The newest look past `nth`, or undefined if there is none within `waitMs` or before `signal` aborts. */
  next(nth: number, waitMs: number, signal: AbortSignal): Promise<Seen<T> | undefined>;
  stop(): void;
};

export type Pulse = {
  /** Followers of one key share the look of the first of them. */
  follow<T>(key: string, look: () => Promise<T>): Following<T>;
};

type Topic = {
  look: () => Promise<unknown>;
  followers: number;
  seen: Seen<unknown> | undefined;
  /** Those who wait for the next look. */
  waiting: Set<() => void>;
};

/** Looks under way at once. */
const ABREAST = 32;

/** Nobody reads it; without a reason every look would make a DOMException with its stack. */
const WOKEN = "there is a new look";

export function createPulse({ clock, log }: { clock: Clock; log: Log }, { everyMs }: { everyMs: number }): Pulse {
  const topics = new Map<string, Topic>();
  let isBeating = false;

  async function take(topic: Topic): Promise<void> {
    try {
      const value = await topic.look();
      topic.seen = { value, nth: (topic.seen?.nth ?? 0) + 1 };
    } catch (cause) {
      // The next round looks again; who follows hears nothing but heartbeats as long as the broker is away.
      log.warn("api.look_failed", { cause });
      return;
    }
    for (const wake of topic.waiting) wake();
  }

  /** Not by AbortSignal.any: one that lives as long as a stream would gather one for every look. */
  async function newLook({ waiting }: Topic, waitMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = () => woken.abort(WOKEN);
    waiting.add(wake);
    signal.addEventListener("abort", wake);
    await clock.sleep(waitMs, woken.signal);
    signal.removeEventListener("abort", wake);
    waiting.delete(wake);
  }

  async function beat(): Promise<void> {
    if (isBeating) return;
    isBeating = true;
    while (topics.size > 0) {
      const round = [...topics.values()];
      for (let from = 0; from < round.length; from += ABREAST) {
        await Promise.all(round.slice(from, from + ABREAST).map(take));
      }
      await clock.sleep(everyMs);
    }
    isBeating = false;
  }

  return {
    follow<T>(key: string, look: () => Promise<T>): Following<T> {
      const topic: Topic = topics.get(key) ?? { look, followers: 0, seen: undefined, waiting: new Set() };
      topics.set(key, topic);
      topic.followers += 1;
      if (isBeating && topic.seen === undefined) void take(topic); // not to wait for the next round
      void beat();
      let isOver = false;
      return {
        async next(nth, waitMs, signal) {
          const isNew = () => (topic.seen?.nth ?? 0) > nth;
          if (!isNew() && !signal.aborted) await newLook(topic, waitMs, signal);
          return isNew() && !signal.aborted ? (topic.seen as Seen<T>) : undefined;
        },
        stop() {
          if (isOver) return;
          isOver = true;
          topic.followers -= 1;
          if (topic.followers === 0) topics.delete(key);
        },
      };
    },
  };
}
