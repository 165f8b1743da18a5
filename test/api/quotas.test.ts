/** Quotas of API keys, with one server and with several servers on one broker and store. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addUrls } from "../../src/api/submit/submit-job.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { newKey } from "../../src/control/new-key.ts";
import { createQuotaKeeper } from "../../src/control/quota/quotas.ts";
import { NO_QUOTAS } from "../../src/domain/api-key.ts";
import { newJobFrom } from "../../src/submit/broker-intake.ts";
import { resolveJob } from "../../src/submit/resolve-job.ts";
import { newFolder } from "../e2e/folder.ts";
import { createManualClock } from "../model/manual-clock.ts";
import { startApi } from "./harness.ts";
import { requestWithKey, startKeyedApi } from "./keyed-api.ts";

const urls = (count: number, from = 0) => Array.from({ length: count }, (_, nth) => `https://a.example/${from + nth}`);

/** Three servers on one broker and store. */
async function startThree() {
  const folder = newFolder();
  const places = { broker: `sqlite:${join(folder, "broker.db")}`, store: `sqlite:${join(folder, "store.db")}` };
  return [await startKeyedApi(places), await startKeyedApi(places), await startKeyedApi(places)] as const;
}

describe("a quota of pending URLs", () => {
  it("accepts as many URLs as it allows, and returns their number", async () => {
    const { newCaller } = await startKeyedApi();
    const { request } = await newCaller({ tenant: "acme", quotas: { pending: 10 } });

    const first = await request("POST", "/v1/jobs", { urls: urls(25) });

    expect(first).toMatchObject({
      status: 429,
      json: { code: "QUOTA_REACHED", quota: "pending", max: 10, accepted: 10, taken: 10 },
    });
    expect(Number(first.headers.get("retry-after"))).toBeGreaterThan(0);
    const { id } = first.json;
    expect((await request("GET", `/v1/jobs/${id}`)).json).toMatchObject({ sealed: false, counts: { queued: 10 } });
    expect((await request("POST", `/v1/jobs/${id}/urls`, { urls: urls(5, 10) })).json).toMatchObject({
      quota: "pending",
      taken: 0,
    });
    // No job is created if no URL can be queued.
    expect((await request("POST", "/v1/jobs", { urls: urls(1) })).status).toBe(429);
    expect((await request("GET", "/v1/jobs")).json.jobs).toHaveLength(1);
  });

  it("applies to the tenant with all its keys, and to no other tenant", async () => {
    const { newCaller } = await startKeyedApi();
    const quotas = { pending: 10 };
    const [one, two] = [await newCaller({ tenant: "acme", quotas }), await newCaller({ tenant: "acme", quotas })];
    const other = await newCaller({ tenant: "other", quotas });
    await one.request("POST", "/v1/jobs", { urls: urls(8) });

    expect((await two.request("POST", "/v1/jobs", { urls: urls(8) })).json).toMatchObject({
      code: "QUOTA_REACHED",
      taken: 2,
    });
    expect((await other.request("POST", "/v1/jobs", { urls: urls(8) })).status).toBe(202);
  });
});

describe("a quota of URLs per second", () => {
  it("accepts as many URLs as the token bucket contains, and returns when to retry", async () => {
    const { newCaller } = await startKeyedApi();
    const { request } = await newCaller({ quotas: { urlsPerSecond: 0.01 } });

    const first = await request("POST", "/v1/jobs", { urls: urls(8) });

    expect(first).toMatchObject({ status: 429, json: { quota: "urlsPerSecond", max: 0.01, accepted: 1, taken: 1 } });
    expect(Number(first.headers.get("retry-after"))).toBeGreaterThan(50);
    expect((await request("POST", `/v1/jobs/${first.json.id}/urls`, { urls: urls(8) })).status).toBe(429);
  });

  it("counts only new URLs: a list that is sent again continues where it stopped", async () => {
    const { trawl } = await startApi();
    const clock = createManualClock(1_000_000);
    const quotas = { ...NO_QUOTAS, urlsPerSecond: 1 };
    const { key } = newKey({ name: "x", tenant: undefined, scopes: ["submit"], quotas, expiresAt: undefined }, 1);
    await trawl.store.keys.add(key);
    const { keys, owners } = trawl.store;
    const caller = { tenant: undefined, keyId: key.id, scopes: key.scopes, quotas };
    const deps = {
      frontier: trawl.frontier,
      requestBodies: trawl.requestBodies,
      quotas: createQuotaKeeper({ keys, owners, frontier: trawl.frontier, clock }),
    };
    const context = { id: "j1", requestId: "r", queue: undefined, typedHosts: [], out: undefined };
    const spec = resolveJob({}, resolveConfig([]), context);
    await trawl.frontier.createJob(newJobFrom(spec, clock.now()));
    const send = () => addUrls(deps, spec, urls(25), { caller, isLast: false });

    await expect(send()).rejects.toMatchObject({ code: "QUOTA_REACHED", detail: { accepted: 10, taken: 10 } });
    await expect(send()).rejects.toMatchObject({ detail: { accepted: 0, taken: 0, retryAfterMs: 1000 } });
    clock.advance(4_000);
    await expect(send()).rejects.toMatchObject({ detail: { accepted: 4, duplicates: 10, taken: 14 } });
    clock.advance(60_000);
    await expect(send()).rejects.toMatchObject({ detail: { accepted: 10, duplicates: 14, taken: 24 } });
    clock.advance(1_000);
    expect(await send()).toMatchObject({ accepted: 1, duplicates: 24, taken: 25 });
  });

  it("holds across servers: together they accept as much as one", async () => {
    const apis = await startThree();
    const { key } = await apis[0].newCaller({ quotas: { urlsPerSecond: 0.01, pending: 1_000_000 } });
    const { json } = await requestWithKey(apis[0], key)("POST", "/v1/jobs", { open: true });

    const answer = await Promise.all(
      Array.from({ length: 12 }, (_, nth) => {
        const request = requestWithKey(apis[nth % 3] ?? apis[0], key);
        return request("POST", `/v1/jobs/${json.id}/urls`, { urls: urls(3, nth * 3) });
      }),
    );

    // A rate of 0.01/s has a bucket of one; the next URL is allowed after 100 s, when this test has ended.
    expect(answer.reduce((sum, { json }) => sum + Number(json.accepted), 0)).toBe(1);
  });
});

describe("a quota of pending URLs, with three servers under load", () => {
  it("is exceeded at most by the URLs that each server accepts before it counts those of the others", async () => {
    const apis = await startThree();
    const max = 20;
    const { key } = await apis[0].newCaller({ tenant: "acme", quotas: { pending: max } });
    const { json } = await requestWithKey(apis[0], key)("POST", "/v1/jobs", { open: true });

    const flood = Array.from({ length: 30 }, (_, nth) =>
      requestWithKey(apis[nth % 3] ?? apis[0], key)("POST", `/v1/jobs/${json.id}/urls`, { urls: urls(7, nth * 7) }),
    );
    const accepted = (await Promise.all(flood)).reduce((sum, answer) => sum + Number(answer.json.accepted), 0);

    expect(accepted).toBeGreaterThanOrEqual(max);
    expect(accepted).toBeLessThanOrEqual(max * apis.length);
    // A new server counts everything.
    const quotas = createQuotaKeeper({
      ...apis[0].trawl.store,
      frontier: apis[0].trawl.frontier,
      clock: apis[0].trawl.clock,
    });
    const caller = { tenant: "acme", keyId: "k", scopes: [], quotas: { ...NO_QUOTAS, pending: max } };
    await expect(quotas.check(caller)).rejects.toMatchObject({ code: "QUOTA_REACHED", detail: { now: accepted } });
  });
});

describe("a quota of jobs", () => {
  it("holds across servers, and does not count ended jobs", async () => {
    const apis = await startThree();
    const { key } = await apis[0].newCaller({ tenant: "acme", quotas: { jobs: 3 } });
    const requests = apis.map((api) => requestWithKey(api, key));
    const submit = (nth: number) => requests[nth % 3]?.("POST", "/v1/jobs", { urls: urls(1, nth) });

    const answer = await Promise.all(Array.from({ length: 12 }, (_, nth) => submit(nth)));

    const taken = answer.filter((one) => one?.status === 202);
    expect(taken).toHaveLength(3);
    const refused = answer.find((one) => one?.status === 429);
    expect(refused?.json).toMatchObject({ code: "QUOTA_REACHED", quota: "jobs", max: 3, now: 3 });

    await requests[0]?.("POST", `/v1/jobs/${taken[0]?.json.id}/cancel`);
    expect([(await submit(20))?.status, (await submit(21))?.status]).toEqual([202, 429]);
  });
});
