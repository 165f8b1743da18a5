/** Opens schedules on a store and a broker: the operations on them, and the scheduler that fires them. */
import type { Config } from "../config/schema.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";
import type { ControlStores, Store } from "../store/store.ts";
import { tenantOwner, wholeSetOfSchedule } from "../submit/with-tenant.ts";
import { registerWebhook } from "../webhook/register-webhook.ts";
import type { FireDeps } from "./fire-occurrence.ts";
import { createScheduler } from "./scheduler.ts";
import { createSchedules, type Schedules } from "./schedules.ts";

type Deps = {
  store: Pick<ControlStores, "schedules" | "owners" | "webhooks"> & Pick<Store, "forgetSet">;
  frontier: Frontier & FrontierAdmin;
  requestBodies: FireDeps["requestBodies"];
  clock: Clock;
  log: Log;
  config: Config;
  openTracing: FireDeps["openTracing"];
  checkRules: FireDeps["checkRules"];
  findObstacle: FireDeps["findObstacle"];
};

export type OpenedSchedules = { schedules: Schedules; createScheduler(): Service };

/** Longer than any submission, so only the claims of dead schedulers expire. */
const CLAIM_MS = 60_000;
const EVERY_MS = 1_000;

export function openSchedules(deps: Deps): OpenedSchedules {
  const { store, frontier, requestBodies, clock, log, config, checkRules, findObstacle, openTracing } = deps;
  const { schedules: scheduleStore, owners, webhooks } = store;
  const fireDeps: FireDeps = {
    ...{
      scheduleStore,
      frontier,
      requestBodies,
      clock,
      log,
      openTracing,
      jobDefaults: config,
      checkRules,
      findObstacle,
    },
    async recordOwner(tenant, jobId) {
      await owners.add(tenantOwner(tenant), jobId, clock.now(), undefined);
    },
    registerWebhook: (webhook, jobId) => registerWebhook(webhooks, webhook, { jobId, now: clock.now() }),
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
