/** Wraps the dependencies of a scheduler: at a given call it dies, before or after the call takes effect, or it sleeps. */
import type { SeededRandom } from "../chaos/seeded-random.ts";

export type Fate = {
  /** The number of the call, from 1, at which it happens. */
  atCall: number;
  kind: "dies before" | "dies after" | "sleeps before";
};

export type Life = {
  /** Resolves when it has died. */
  died: Promise<"died">;
  isAsleep(): boolean;
  mortal<T extends object>(part: T): T;
  /** Schedules the fate this many calls from now. Later calls have no effect. */
  doom(fate: Fate): void;
};

type LifeDeps = {
  random: SeededRandom;
  /** How long it sleeps. Others continue its work in that time. */
  nap(): Promise<void>;
  onFate(kind: Fate["kind"]): void;
};

/** Delays calls by a random time, so that the calls of several schedulers interleave in every order. */
export function createLife({ random, nap, onFate }: LifeDeps): Life {
  let calls = 0;
  let fate: Fate | undefined;
  let isDead = false;
  let isAsleep = false;
  let die: (word: "died") => void = () => {};
  const died = new Promise<"died">((resolve) => {
    die = resolve;
  });
  const never = new Promise<never>(() => {});

  async function call(work: () => Promise<unknown>): Promise<unknown> {
    for (let turns = random.between(0, 3); turns > 0; turns -= 1) await Promise.resolve();
    if (isDead) return never;
    calls += 1;
    const met = fate?.atCall === calls ? fate.kind : undefined;
    if (met !== undefined) onFate(met);
    if (met === "dies before") return end();
    if (met === "sleeps before") {
      isAsleep = true;
      await nap();
      isAsleep = false;
    }
    const answer = await work();
    return met === "dies after" || isDead ? end() : answer;
  }

  function end(): Promise<never> {
    isDead = true;
    die("died");
    return never;
  }

  return {
    died,
    isAsleep: () => isAsleep,
    doom: ({ atCall, kind }) => {
      if (fate === undefined || fate.atCall <= calls) fate = { atCall: calls + atCall, kind };
    },
    mortal: (part) =>
      new Proxy(part, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          return (...words: unknown[]) => call(() => value.apply(target, words) as Promise<unknown>);
        },
      }),
  };
}
