/** Schedules on a store and a broker: for those who make and change them, and for those who fire them. */
import type { Config } from "../config/schema.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";
import type { Store, StoreBooks } from "../store/store.ts";
import { tenantOwner, wholeSetOfSchedule } from "../submit/with-tenant.ts";
import { noteWebhook } from "../webhook/note-webhook.ts";
import type { FireDeps } from "./fire-slot.ts";
import { createScheduler } from "./scheduler.ts";
import { createSchedules, type Schedules } from "./schedules.ts";

type Deps = {
  store: Pick<StoreBooks, "schedules" | "owners" | "webhooks"> & Pick<Store, "forgetSet">;
  frontier: Frontier & FrontierAdmin;
  clock: Clock;
  log: Log;
  config: Config;
  openTracing: FireDeps["openTracing"];
  checkRules: FireDeps["checkRules"];
  findObstacle: FireDeps["findObstacle"];
};

export type OpenedSchedules = { schedules: Schedules; createScheduler(): Service };

/** A submission takes less, unless its scheduler is dead. */
const CLAIM_MS = 60_000;
const EVERY_MS = 1_000;

export function openSchedules(deps: Deps): OpenedSchedules {
  const { store, frontier, clock, log, config, checkRules, findObstacle, openTracing } = deps;
  const { schedules: book, owners, webhooks } = store;
  const fireDeps: FireDeps = {
    ...{ book, frontier, clock, log, openTracing, jobDefaults: config, checkRules, findObstacle },
    async noteOwner(tenant, jobId) {
      await owners.note(tenantOwner(tenant), jobId, clock.now(), undefined);
    },
    async noteWebhook(webhook, jobId) {
      await noteWebhook(webhooks, webhook, { jobId, now: clock.now() });
    },
  };
  const options = { claimMs: CLAIM_MS, graceMs: config.scheduleGraceMs, everyMs: EVERY_MS };
  const schedules = createSchedules(fireDeps, options);
  return {
    schedules: {
      ...schedules,
      async remove(schedule) {
        await schedules.remove(schedule);
        await store.forgetSet(wholeSetOfSchedule(schedule));
      },
    },
    createScheduler: () => createScheduler(fireDeps, options),
  };
}
