/**
 * Frontiers on real servers for one test, with the broker's clock. Each stage has its own prefix and closes its
 * handles.
 */
import { onTestFinished } from "vitest";
import { openRedisFrontier, type RedisFrontierOptions } from "../../src/frontier/redis/open.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import type { Log } from "../../src/runtime/log.ts";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import { newPrefix } from "../contracts/frontier/redis-backend.ts";

export type StageOptions = Partial<RedisFrontierOptions> & { url?: string; clock?: Clock };

export type Stage = {
  prefix: string;
  /** Log events of the handles. */
  events: string[];
  /** Opens another handle on the same broker, like another process. */
  open(options?: StageOptions): Promise<AnyFrontier>;
};

/** Call it inside a test. */
export function createStage(url: string, defaults: StageOptions = {}): Stage {
  const prefix = newPrefix();
  const events: string[] = [];
  const record = (event: string) => void events.push(event);
  const log: Log = { debug: record, info: record, warn: record, error: record, child: () => log, isOn: () => true };
  return {
    prefix,
    events,
    async open(options = {}) {
      const { url: at = url, clock = systemClock(), ...rest } = { ...defaults, ...options };
      const usual = { prefix, shards: 1, maxPending: 1e6, retryForMs: 20_000, pollMs: 60_000, time: "broker" as const };
      const frontier = await openRedisFrontier(at, { clock, log }, { ...usual, ...rest });
      onTestFinished(() => frontier.close());
      return frontier;
    },
  };
}

/** Opens several handles on one broker. */
export function openMany(stage: Stage, count: number): Promise<AnyFrontier[]> {
  return Promise.all(Array.from({ length: count }, () => stage.open()));
}
