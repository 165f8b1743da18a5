import { systemClock } from "../../../src/runtime/clock.ts";
import { createLog } from "../../../src/runtime/log.ts";

/** Dependencies of a store for tests: the system clock, and a log that discards everything. */
export const STORE_DEPS = { clock: systemClock(), log: createLog("silent", () => {}) };
