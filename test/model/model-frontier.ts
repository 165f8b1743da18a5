/**
 * The model of a frontier: plain lists and loops, easy to verify by reading, not fast. It shares only the pure rules
 * (src/domain, the texts of explain, rescaleArrival) with the product.
 */
import type { Frontier } from "../../src/frontier/frontier.ts";
import type { FrontierAdmin } from "../../src/frontier/frontier-admin.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { createModelAdmin } from "./model-admin.ts";
import { createModelHotPath } from "./model-hot-path.ts";
import { endStep } from "./scheduling.ts";
import { emptyWorld, type World } from "./world.ts";

export type ModelOptions = {
  /** The maximum number of pending tasks; `enqueue` accepts no more. */
  maxPending: number;
};

/** Runs one operation at one time, then restores all invariants. */
export type ModelStep = <T>(work: (now: number) => T) => { value: T; finished: string[] };

export type ModelParts = { world: World; clock: Clock; step: ModelStep; waiting: Set<() => void> };

export function createModelFrontier({ clock }: { clock: Clock }, options: ModelOptions): Frontier & FrontierAdmin {
  const world = emptyWorld();
  const waiting = new Set<() => void>();
  const step: ModelStep = (work) => {
    const now = clock.now();
    const value = work(now);
    const finished = endStep(world, now);
    for (const wake of waiting) wake();
    return { value, finished };
  };
  const parts = { world, clock, step, waiting };
  return { ...createModelHotPath(parts, options), ...createModelAdmin(parts) };
}
