/**
 * A broker whose dear questions are asked once for all who want to know: groups of dead letters and the busiest sites are
 * found by looking through all there are, and every tab of every operator asks every few seconds. Whoever asks while
 * somebody else's question is under way hears the same answer; and so does everybody for `restTimes` as long as it took,
 * so that broker and process have most of their time for others. What is quick is fresh.
 */
import type { FrontierAdmin } from "./frontier-admin.ts";

type Looks = Pick<FrontierAdmin, "groupDead" | "listBusySites">;
type Changes = Pick<FrontierAdmin, "replayDead" | "discardDead" | "setSitePolicy">;
export type SharedLooksOptions = {
  restTimes: number;
  /** No answer is given out for longer. */
  ageMostMs: number;
  /** Answers that are remembered. */
  most: number;
};

export function withSharedLooks<F extends Looks & Changes>(
  frontier: F,
  { now }: { now: () => number },
  { restTimes, ageMostMs, most }: SharedLooksOptions,
): F {
  let known = new Map<string, { answer: Promise<unknown>; freshUntil: number }>();

  function shared<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const met = known.get(key);
    if (met !== undefined && now() < met.freshUntil) return met.answer as Promise<T>;
    const startedAt = now();
    const answer = ask();
    const entry = { answer, freshUntil: Number.POSITIVE_INFINITY };
    known.delete(key); // the newest goes last
    known.set(key, entry);
    const oldest = known.keys().next().value;
    if (known.size > most && oldest !== undefined) known.delete(oldest);
    answer.then(
      () => {
        entry.freshUntil = now() + Math.min(ageMostMs, restTimes * (now() - startedAt));
      },
      () => {
        entry.freshUntil = 0;
      },
    );
    return answer;
  }

  /** What somebody has changed here they want to see: what was looked up before counts no more, nor what is under way. */
  async function changing<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } finally {
      known = new Map();
    }
  }

  const sharing: Looks & Changes = {
    groupDead: (...words) => shared(JSON.stringify(["groupDead", ...words]), () => frontier.groupDead(...words)),
    listBusySites: (...words) => shared(JSON.stringify(["busy", ...words]), () => frontier.listBusySites(...words)),
    replayDead: (...words) => changing(() => frontier.replayDead(...words)),
    discardDead: (...words) => changing(() => frontier.discardDead(...words)),
    setSitePolicy: (...words) => changing(() => frontier.setSitePolicy(...words)),
  };
  // Not a copy: all else stays the broker's own, which may itself be one with something added so.
  return Object.assign(Object.create(frontier), sharing) as F;
}
