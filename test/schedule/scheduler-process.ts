/** Runs a scheduler as a process, on the store and broker in its arguments, until it is killed. */

import { writeSync } from "node:fs";
import { openApp } from "../../src/compose/app.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { NO_TRACING } from "../../src/runtime/tracing.ts";
import { createScheduler } from "../../src/schedule/scheduler.ts";

const [store = "", broker = "", claimMs = ""] = process.argv.slice(2);

const config = resolveConfig([{ from: "test", values: { store, broker, bodies: "none", logLevel: "silent" } }]);
const { store: stores, frontier, requestBodies, clock, log } = await openApp(config, () => {});
createScheduler(
  {
    ...{ scheduleStore: stores.schedules, frontier, requestBodies, clock, log, jobDefaults: config },
    checkRules: () => {},
    openTracing: async () => NO_TRACING,
    findObstacle: async () => undefined,
    recordOwner: async () => {},
    registerWebhook: async () => {},
  },
  { everyMs: 50, graceMs: 2_000, claimMs: Number(claimMs) },
).start();
writeSync(1, "started\n");
