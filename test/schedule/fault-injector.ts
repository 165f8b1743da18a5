/**
 * Wraps the dependencies of a scheduler and injects a fault at a given call: a crash before or after it, or a pause.
 */
import type { SeededRandom } from "../chaos/seeded-random.ts";

export type Fault = {
  /** The number of the call, from 1, at which the fault occurs. */
  atCall: number;
  kind: "crash before" | "crash after" | "pause before";
};

export type FaultInjector = {
  /** Resolves when the scheduler has crashed. */
  crashed: Promise<"crashed">;
  isPaused(): boolean;
  wrap<T extends object>(part: T): T;
  /** Plans a fault `atCall` calls from now. Does nothing if a planned fault has not occurred yet. */
  plan(fault: Fault): void;
};

type InjectorDeps = {
  random: SeededRandom;
  /** Resolves at the end of a pause. Other schedulers continue the work during it. */
  pause(): Promise<void>;
  onFault(kind: Fault["kind"]): void;
};

/** Delays calls by a random time, so that the calls of several schedulers interleave in every order. */
export function createFaultInjector({ random, pause, onFault }: InjectorDeps): FaultInjector {
  let calls = 0;
  let fault: Fault | undefined;
  let isCrashed = false;
  let isPaused = false;
  let crash: (state: "crashed") => void = () => {};
  const crashed = new Promise<"crashed">((resolve) => {
    crash = resolve;
  });
  const never = new Promise<never>(() => {});

  async function call(work: () => Promise<unknown>): Promise<unknown> {
    for (let turns = random.between(0, 3); turns > 0; turns -= 1) await Promise.resolve();
    if (isCrashed) return never;
    calls += 1;
    const kind = fault?.atCall === calls ? fault.kind : undefined;
    if (kind !== undefined) onFault(kind);
    if (kind === "crash before") return end();
    if (kind === "pause before") {
      isPaused = true;
      await pause();
      isPaused = false;
    }
    const answer = await work();
    return kind === "crash after" || isCrashed ? end() : answer;
  }

  function end(): Promise<never> {
    isCrashed = true;
    crash("crashed");
    return never;
  }

  return {
    crashed,
    isPaused: () => isPaused,
    plan: ({ atCall, kind }) => {
      if (fault === undefined || fault.atCall <= calls) fault = { atCall: calls + atCall, kind };
    },
    wrap: (part) =>
      new Proxy(part, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => call(() => value.apply(target, args) as Promise<unknown>);
        },
      }),
  };
}
