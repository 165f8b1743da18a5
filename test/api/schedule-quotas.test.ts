/**
 * Occurrences of a tenant's schedules wait if a quota of its keys is reached, and are fired when the quota allows it.
 */

import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../src/config/resolve.ts";
import { createOccurrenceQuota } from "../../src/control/quota/occurrence-quota.ts";
import { createQuotaKeeper } from "../../src/control/quota/quotas.ts";
import { NO_QUOTAS } from "../../src/domain/api-key.ts";
import { createLog } from "../../src/runtime/log.ts";
import { NO_TRACING } from "../../src/runtime/tracing.ts";
import { pollOnce } from "../../src/schedule/scheduler.ts";
import { type Caller, type KeyedApi, startKeyedApi } from "./keyed-api.ts";

const urls = (count: number) => Array.from({ length: count }, (_, nth) => `https://a.example/${nth}`);
/** A waiting occurrence is checked again after five seconds. */
const LATER_MS = 6_000;

/** Runs the scheduler once, with a clock that is ahead by `aheadMs`. */
async function runSchedulerLater({ trawl }: KeyedApi, aheadMs: number): Promise<void> {
  const { store, frontier, requestBodies } = trawl;
  const clock = { now: () => trawl.clock.now() + aheadMs, sleep: async () => {} };
  const quotas = createQuotaKeeper({ owners: store.owners, keys: store.keys, frontier, clock });
  const deps = {
    ...{ scheduleStore: store.schedules, frontier, requestBodies, clock, log: createLog("silent", () => {}) },
    jobDefaults: resolveConfig([{ from: "test", values: {} }]),
    checkRules: () => {},
    openTracing: async () => NO_TRACING,
    findObstacle: createOccurrenceQuota({ keys: store.keys, quotas, clock, fixed: [] }),
    recordOwner: async () => {},
    registerWebhook: async () => undefined,
  };
  await pollOnce(deps, { graceMs: 60_000, claimMs: 60_000 }, new AbortController().signal);
}

async function scheduleOf({ request }: Caller, job: object, more = {}): Promise<string> {
  const { status, json } = await request("POST", "/v1/schedules", { every: "300d", overlap: "queue", ...more, job });
  expect(status).toBe(201);
  return `/v1/schedules/${json.id}`;
}

const runsOf = async ({ request }: Caller, path: string) =>
  (await request("GET", `${path}/runs`)).json.runs as unknown as { state: string; because: string; jobId: string }[];

describe("an occurrence of a tenant's schedule", () => {
  it("waits with a reason while the tenant has its maximum of open jobs, and is fired when one has ended", async () => {
    const api = await startKeyedApi();
    const acme = await api.newCaller({ tenant: "acme", quotas: { jobs: 1 } });
    const { json } = await acme.request("POST", "/v1/jobs", { urls: urls(1) });
    const path = await scheduleOf(acme, { urls: urls(1) });

    const run = await acme.request("POST", `${path}/run`);
    expect(run.json).toMatchObject({ state: "waiting", jobId: null });
    expect(run.json.because).toBe("waits for a quota: tenant acme has 1 open job; its limit is 1");
    await runSchedulerLater(api, LATER_MS);
    expect(await runsOf(acme, path)).toMatchObject([{ state: "waiting" }]);

    await acme.request("POST", `/v1/jobs/${json.id}/cancel`);
    await runSchedulerLater(api, 3 * LATER_MS);

    expect(await runsOf(acme, path)).toMatchObject([{ state: "fired", because: null }]);
    // The job of the occurrence counts toward the quota.
    expect((await acme.request("POST", "/v1/jobs", { urls: urls(1) })).status).toBe(429);
  });

  it("waits while too many URLs are pending, and fails if the job alone exceeds the quota", async () => {
    const api = await startKeyedApi();
    const acme = await api.newCaller({ tenant: "acme", quotas: { pending: 10 } });
    const { json } = await acme.request("POST", "/v1/jobs", { urls: urls(8) });
    const [five, twenty] = [await scheduleOf(acme, { urls: urls(5) }), await scheduleOf(acme, { urls: urls(20) })];

    expect((await acme.request("POST", `${five}/run`)).json).toMatchObject({ state: "waiting" });
    expect((await acme.request("POST", `${twenty}/run`)).json).toMatchObject({
      state: "failed",
      because: "the job has 20 URLs, more than the quota of tenant acme: 10 pending URLs",
    });

    await acme.request("POST", `/v1/jobs/${json.id}/cancel`);
    await runSchedulerLater(api, LATER_MS);
    expect(await runsOf(acme, five)).toMatchObject([{ state: "fired" }]);
  });

  it("waits for the rate of the tenant's fastest key, and consumes no quota while it waits", async () => {
    const api = await startKeyedApi();
    const acme = await api.newCaller({ tenant: "acme", quotas: { urlsPerSecond: 0.5 } });
    await api.newCaller({ tenant: "acme", quotas: { urlsPerSecond: 0.1 } });
    await acme.request("POST", "/v1/jobs", { urls: urls(2) });
    const path = await scheduleOf(acme, { urls: urls(4) });

    // The bucket has a capacity of five URLs, and three are left. The waiting occurrence consumes none of them.
    expect((await acme.request("POST", `${path}/run`)).json).toMatchObject({ state: "waiting" });
    expect((await acme.request("POST", "/v1/jobs", { urls: urls(3) })).status).toBe(202);

    await runSchedulerLater(api, 20_000);
    expect(await runsOf(acme, path)).toMatchObject([{ state: "fired" }]);
  });

  it("ignores quotas if one of the tenant's keys has none, and ignores revoked keys", async () => {
    const api = await startKeyedApi();
    const acme = await api.newCaller({ tenant: "acme", quotas: { pending: 1 } });
    const path = await scheduleOf(acme, { urls: urls(3) });
    const free = await api.newCaller({ tenant: "acme", quotas: {} });

    expect((await acme.request("POST", `${path}/run`)).json).toMatchObject({ state: "fired" });

    await api.operator("DELETE", `/v1/keys/${free.id}`);
    const other = await scheduleOf(acme, { urls: urls(3) });
    expect((await acme.request("POST", `${other}/run`)).json).toMatchObject({ state: "failed" });
  });

  it("waits while its tenant has no valid key, and is fired when there is one", async () => {
    const api = await startKeyedApi();
    const acme = await api.newCaller({ tenant: "acme", quotas: { pending: 1 } });
    const path = await scheduleOf(acme, { urls: urls(1) });
    const reader = await api.newCaller({ tenant: "acme", scopes: ["read"] });
    await api.operator("DELETE", `/v1/keys/${acme.id}`);

    await api.operator("POST", `${path}/run`);
    expect(await runsOf(reader, path)).toMatchObject([
      { state: "waiting", because: "waits for a key: tenant acme has no valid key with the scope submit" },
    ]);

    await api.newCaller({ tenant: "acme", quotas: { pending: 1 } });
    await runSchedulerLater(api, LATER_MS);
    expect(await runsOf(reader, path)).toMatchObject([{ state: "fired" }]);
  });

  it("consumes no quota of pending URLs while it waits for another quota", async () => {
    const api = await startKeyedApi();
    const { store, frontier, clock } = api.trawl;
    const acme = await api.newCaller({ tenant: "acme", quotas: { pending: 10, jobs: 1 } });
    await acme.request("POST", "/v1/jobs", { urls: urls(2) });
    const still = { ...clock, now: () => 1_900_000_000_000 }; // with a fixed time, the pending URLs are counted once
    const quotas = createQuotaKeeper({ owners: store.owners, keys: store.keys, frontier, clock: still });
    const findObstacle = createOccurrenceQuota({ keys: store.keys, quotas, clock, fixed: [] });
    const budget = quotas.budgetOf({
      tenant: "acme",
      keyId: acme.id,
      scopes: [],
      quotas: { ...NO_QUOTAS, pending: 10 },
    });

    for (let nth = 0; nth < 2; nth += 1) {
      expect((await findObstacle("acme", `j${nth}`, 8))?.because).toContain("1 open job");
    }

    expect(await budget?.reserve(100)).toBe(8);
  });

  it("replaces the previous run regardless of the job quota", async () => {
    const api = await startKeyedApi();
    const acme = await api.newCaller({ tenant: "acme", quotas: { jobs: 1 } });
    const path = await scheduleOf(acme, { urls: urls(1) }, { overlap: "replace" });

    const first = await acme.request("POST", `${path}/run`);
    const second = await acme.request("POST", `${path}/run`);

    expect([first.json.state, second.json.state]).toEqual(["fired", "fired"]);
    expect((await acme.request("GET", `/v1/jobs/${first.json.jobId}`)).json).toMatchObject({ state: "cancelled" });
  });
});
