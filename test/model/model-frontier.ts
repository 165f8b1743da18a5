/**
 * The oracle: a frontier of plain lists and loops, right by reading it rather than fast. It shares the pure rules
 * (src/domain, the words of explain, repricing) with the product and nothing else.
 */
import type { Frontier } from "../../src/frontier/frontier.ts";
import type { FrontierAdmin } from "../../src/frontier/frontier-admin.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { createModelAdmin } from "./model-admin.ts";
import { createModelHotPath } from "./model-hot-path.ts";
import { endStep } from "./scheduling.ts";
import { emptyWorld, type World } from "./world.ts";

export type ModelOptions = {
  /** URLs waiting in the whole model past which `enqueue` takes no more. */
  maxPending: number;
};

/** One operation at one instant; afterwards all that must hold has been made to. */
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
