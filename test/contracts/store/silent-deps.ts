import { systemClock } from "../../../src/runtime/clock.ts";
import { createLog } from "../../../src/runtime/log.ts";

/** What a store is opened with where nobody listens to its log. */
export const SILENT_DEPS = { clock: systemClock(), log: createLog("silent", () => {}) };
