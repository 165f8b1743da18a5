/** Archived and deleted jobs over HTTP. */
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { retentionDeps } from "../../src/compose/retention.ts";
import { bodyRefOf } from "../../src/domain/request.ts";
import { archiveEnded } from "../../src/retain/archive-ended.ts";
import { cleanUpAll, SETTLED_MS } from "../../src/retain/delete-job.ts";
import { removeOrphanBodies } from "../../src/retain/orphan-bodies.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { newFolder } from "../e2e/folder.ts";
import { waitUntil } from "../services/wait-until.ts";
import { type Api, closeLater } from "./harness.ts";
import { startKeyedApi } from "./keyed-api.ts";
import { ended, startWorking } from "./working-api.ts";

const TIMEOUT_MS = 20_000;
const UNSTOPPED = new AbortController().signal;
const PAGES = { "/": "<title>one</title>", "/two": "<title>two</title>", "/gone": { status: 404 } } as const;

/** The dependencies of retention, with a clock that is `ms` ahead. */
function later({ trawl }: Api, ms: number) {
  const deps = retentionDeps(trawl);
  const clock: Clock = { ...deps.clock, now: () => deps.clock.now() + ms };
  return { ...deps, clock };
}

/** Archives every ended job. */
async function archiveAll(api: Api): Promise<void> {
  await archiveEnded(retentionDeps(api.trawl), Infinity, UNSTOPPED);
}

describe("an archived job", () => {
  async function archived(settings: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
    const api = await startWorking(PAGES, settings);
    const body = {
      name: "shop",
      urls: [`${api.site.url}/`, `${api.site.url}/two`, `${api.site.url}/gone`],
      headers: { "x-token": "s3cret" },
      keep: { bodies: true },
    };
    const { json } = await api.request("POST", "/v1/jobs", body, headers);
    await api.startWorker();
    const before = await ended(api, json.id);
    await archiveAll(api);
    expect(await api.trawl.frontier.findJob(String(json.id))).toBeUndefined();
    return { api, body, id: String(json.id), before, submitted: json };
  }

  it("is returned as before, marked as archived, with its records, pages and bodies", async () => {
    const { api, id, before } = await archived();

    expect((await api.request("GET", `/v1/jobs/${id}`)).json).toEqual({ ...before, archived: true });
    const { proxies: _, ...listed } = before; // the costs of proxies are only in the answer for one job
    expect((await api.request("GET", "/v1/jobs")).json).toEqual({ jobs: [{ ...listed, archived: true }], next: null });
    expect((await api.request("GET", `/v1/jobs/${id}/records`)).json.records).toHaveLength(2);
    const { json } = await api.request("GET", `/v1/jobs/${id}/pages`);
    const [page] = json.pages as unknown as { id: number }[];
    expect((await api.request("GET", `/v1/pages/${page?.id}/body`)).status).toBe(200);
    const events = await api.request("GET", `/v1/jobs/${id}/events`);
    expect(events.json.text).toContain("event: end");
    expect((await api.request("GET", `/v1/explain?job=${id}`)).json.reasons).toEqual([
      expect.stringContaining("is archived"),
    ]);
    expect((await api.request("GET", `/v1/dead?job=${id}`)).json.dead).toEqual([]);
  });

  it("does not keep the values that its browser filled in", async () => {
    const api = await startWorking(PAGES);
    const browser = { actions: [{ fill: "#password", with: "s3cret" }] };
    const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/`], render: "never", browser });
    await api.request("POST", `/v1/jobs/${json.id}/cancel`);
    await archiveAll(api);

    const kept = JSON.stringify(await api.trawl.store.archive.find(String(json.id)));

    expect(kept).toContain("#password");
    expect(kept).not.toContain("s3cret");
  });

  it("does not keep the values of its headers", async () => {
    const { api, id } = await archived();

    const kept = await api.trawl.store.archive.find(id);

    expect(JSON.stringify(kept)).toContain("x-token");
    expect(JSON.stringify(kept)).not.toContain("s3cret");
  });

  it("cannot be changed, and returns why", async () => {
    const { api, id } = await archived();
    const calls = [
      ["POST", `/v1/jobs/${id}/pause`],
      ["POST", `/v1/jobs/${id}/resume`],
      ["POST", `/v1/jobs/${id}/cancel`],
      ["PATCH", `/v1/jobs/${id}`, { priority: 3 }],
      ["POST", `/v1/jobs/${id}/urls`, { urls: ["https://a.test/"] }],
      ["POST", "/v1/dead/replay", { job: id }],
    ] as const;

    for (const [method, path, body] of calls) {
      const { status, json } = await api.request(method, path, body);
      expect([path, status, json.code]).toEqual([path, 409, "JOB_ARCHIVED"]);
      expect(json.detail).toContain("is archived");
    }
  });

  it("returns the same answer to a repeated submission, and is not created twice", async () => {
    const { api, body, id, submitted } = await archived({}, { "idempotency-key": "once" });

    const again = await api.request("POST", "/v1/jobs", body, { "idempotency-key": "once" });

    expect(again.status).toBe(202);
    expect(again.json).toEqual(submitted);
    expect(await api.trawl.frontier.findJob(id)).toBeUndefined();
    const other = await api.request("POST", "/v1/jobs", { ...body, name: "other" }, { "idempotency-key": "once" });
    expect(other.json.code).toBe("KEY_REUSED");
  });

  it("is listed with those in the broker, newest first, each once, page by page", async () => {
    const api = await startWorking(PAGES);
    await api.startWorker();
    const ids: unknown[] = [];
    for (let nth = 0; nth < 7; nth++) {
      const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/?${nth}`] });
      ids.unshift(json.id);
      await ended(api, json.id);
      // Every second job is archived. One is in both places, as after a crash.
      if (nth % 2 === 0) await archiveAll(api);
      if (nth === 5) {
        const deps = retentionDeps(api.trawl);
        const forgetJob = () => Promise.reject(new Error("killed"));
        const dying = { ...deps, frontier: { ...deps.frontier, forgetJob } };
        await expect(archiveEnded(dying, Infinity, UNSTOPPED)).rejects.toThrow("killed");
      }
    }

    expect(await listedIds(api, 2)).toEqual(ids);
  });

  it("is visible only to its tenant", async () => {
    const api = await startKeyedApi();
    const [one, two] = [await api.newCaller({ tenant: "one" }), await api.newCaller({ tenant: "two" })];
    const { json } = await one.request("POST", "/v1/jobs", { urls: ["https://a.test/"] });
    await one.request("POST", `/v1/jobs/${json.id}/cancel`);
    await archiveAll(api);

    expect((await one.request("GET", `/v1/jobs/${json.id}`)).json).toMatchObject({
      archived: true,
      state: "cancelled",
    });
    expect((await one.request("GET", "/v1/jobs")).json.jobs).toHaveLength(1);
    expect((await two.request("GET", `/v1/jobs/${json.id}`)).status).toBe(404);
    expect((await two.request("GET", "/v1/jobs")).json.jobs).toEqual([]);
    expect((await two.request("DELETE", `/v1/jobs/${json.id}`)).status).toBe(404);
    expect((await one.request("DELETE", `/v1/jobs/${json.id}`)).status).toBe(202);
    expect((await one.request("GET", "/v1/jobs")).json.jobs).toEqual([]);
    expect((await api.operator("GET", "/v1/jobs")).json.jobs).toEqual([]);
  });

  it("keeps its large request bodies while it is in the broker, and no longer", async () => {
    const api = await startWorking(PAGES, { bodies: `file:${newFolder()}` });
    const [body, small] = ["é".repeat(40_000), "é".repeat(30_000)];
    const urls = [body, small].map((text) => ({ url: `${api.site.url}/`, body: text }));
    const { status, json } = await api.request("POST", "/v1/jobs", { urls });
    await api.startWorker();
    await ended(api, json.id);
    const find = (text: string) => api.trawl.requestBodies.find(String(json.id), bodyRefOf(text));
    expect([status, await find(body), await find(small)]).toEqual([202, body, undefined]);

    await archiveAll(api);

    expect(await find(body)).toBeUndefined();
  });

  it("stays in the broker for the configured time before it is archived", async () => {
    const api = await startWorking(PAGES, { keepEndedMs: "1h" });
    const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/`] });
    await api.startWorker();
    await ended(api, json.id);

    await api.retention.sweep();
    expect((await api.request("GET", `/v1/jobs/${json.id}`)).json.archived).toBe(false);

    await archiveEnded(later(api, 0), api.trawl.clock.now() - 3_600_000, UNSTOPPED);
    expect((await api.request("GET", `/v1/jobs/${json.id}`)).json.archived).toBe(false);
    await archiveEnded(later(api, 0), api.trawl.clock.now() + 1, UNSTOPPED);
    expect((await api.request("GET", `/v1/jobs/${json.id}`)).json.archived).toBe(true);
  });
});

describe("a job that is deleted", () => {
  it("disappears at once with its results, except bodies that other jobs share", async () => {
    const bodies = newFolder();
    const api = await startWorking(PAGES, { bodies: `file:${bodies}` });
    await api.startWorker();
    const submit = async (...paths: string[]) => {
      const urls = paths.map((path) => api.site.url + path);
      const { json } = await api.request("POST", "/v1/jobs", { urls, keep: { bodies: true } });
      await ended(api, json.id);
      return String(json.id);
    };
    const [gone, stays] = [await submit("/", "/two", "/gone"), await submit("/")];
    const { json: pages } = await api.request("GET", `/v1/jobs/${gone}/pages`);
    const [page] = pages.pages as unknown as { id: number }[];

    const { status, json } = await api.request("DELETE", `/v1/jobs/${gone}`);

    expect([status, json]).toEqual([202, { id: gone }]);
    for (const path of ["", "/records", "/pages", "/events"]) {
      expect((await api.request("GET", `/v1/jobs/${gone}${path}`)).status).toBe(404);
    }
    expect((await api.request("GET", `/v1/pages/${page?.id}/body`)).status).toBe(404);
    expect((await api.request("DELETE", `/v1/jobs/${gone}`)).status).toBe(404);
    expect((await api.request("POST", `/v1/jobs/${gone}/cancel`)).status).toBe(404);
    expect((await api.request("GET", "/v1/jobs")).json.jobs).toHaveLength(1);

    await api.retention.sweep();
    const { store, frontier } = api.trawl;
    expect(await frontier.findJob(gone)).toBeUndefined();
    expect(await frontier.listDead({}, 10)).toEqual([]);
    expect(await store.readPages(gone, 0, 10)).toEqual([]);
    expect(await store.countRecords(gone)).toBe(0);
    expect(await store.groupAttempts(gone, 10)).toEqual([]);
    expect(await filesIn(bodies)).toHaveLength(2);

    // Files have real modification times, so the test advances the clock instead.
    await removeOrphanBodies(later(api, 2 * SETTLED_MS), UNSTOPPED);
    expect(await filesIn(bodies)).toHaveLength(1);
    const { json: left } = await api.request("GET", `/v1/jobs/${stays}/pages`);
    const [kept] = left.pages as unknown as { id: number }[];
    expect((await api.request("GET", `/v1/pages/${kept?.id}/body`)).status).toBe(200);
    expect(await store.archive.listUncleaned(10)).toHaveLength(1);
    await cleanUpAll(later(api, 2 * SETTLED_MS), UNSTOPPED);
    expect(await store.archive.listUncleaned(10)).toEqual([]);
    expect((await api.request("GET", `/v1/jobs/${gone}`)).status).toBe(404);
  });

  it("must have ended, or must be cancelled by the same request", async () => {
    const api = await startWorking(PAGES);
    const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/`] });
    const refused = await api.request("DELETE", `/v1/jobs/${json.id}`);
    expect([refused.status, refused.json.code]).toEqual([409, "JOB_RUNNING"]);
    expect((await api.request("GET", `/v1/jobs/${json.id}`)).status).toBe(200);

    expect((await api.request("DELETE", `/v1/jobs/${json.id}?cancel=true`)).status).toBe(202);

    expect((await api.request("GET", `/v1/jobs/${json.id}`)).status).toBe(404);
    await api.retention.sweep();
    expect(await api.trawl.frontier.listJobs(10)).toEqual([]);
    expect(await api.trawl.frontier.listQueues()).toEqual([]);
  });

  it("leaves no dead letter of a task that fails after the deletion", async () => {
    let answer: (() => void) | undefined;
    const api = await startWorking((_, response) => {
      answer = () => response.writeHead(500).end();
    });
    closeLater(() => api.retention.stop());
    api.retention.start();
    await api.startWorker();
    const how = { retries: { max: 0 }, politeness: { robots: false } };
    const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/`], ...how });
    expect(await waitUntil(() => answer !== undefined, TIMEOUT_MS)).toBe(true);

    await api.request("DELETE", `/v1/jobs/${json.id}?cancel=true`);
    const { frontier } = api.trawl;
    const stateOf = async () => (await frontier.findJob(String(json.id)))?.state;
    expect(await waitUntil(async () => (await stateOf()) === "cancelled", TIMEOUT_MS)).toBe(true);
    answer?.();

    expect(await waitUntil(async () => (await stateOf()) === undefined, TIMEOUT_MS)).toBe(true);
    expect(await frontier.listDead({}, 10)).toEqual([]);
  });

  it("is not created again by a request with its idempotency key", async () => {
    const api = await startWorking(PAGES);
    const body = { urls: [`${api.site.url}/`] };
    const { json } = await api.request("POST", "/v1/jobs", body, { "idempotency-key": "once" });
    await api.request("DELETE", `/v1/jobs/${json.id}?cancel=true`);

    for (let nth = 0; nth < 2; nth++) {
      const again = await api.request("POST", "/v1/jobs", body, { "idempotency-key": "once" });
      expect([again.status, again.json.code]).toEqual([410, "JOB_DELETED"]);
      await api.retention.sweep();
    }
  });

  it("is removed completely by the next sweep after a kill at any point", async () => {
    const api = await startWorking(PAGES);
    await api.startWorker();
    const whole = retentionDeps(api.trawl);
    const steps = ["removeEntries", "findJob", "readPassed", "erase", "forgetJob", "setClean"] as const;
    for (const step of steps) {
      const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/?${step}`] });
      await ended(api, json.id);
      await api.request("DELETE", `/v1/jobs/${json.id}`);
      const die = () => Promise.reject(new Error(`killed at ${step}`));
      const dying = {
        ...later(api, 2 * SETTLED_MS),
        frontier: { ...whole.frontier, ...(step in whole.frontier ? { [step]: die } : {}) },
        archive: { ...whole.archive, ...(step in whole.archive ? { [step]: die } : {}) },
        ...(step === "removeEntries" ? { removeEntries: die } : {}),
      };

      await cleanUpAll(dying, UNSTOPPED);
      expect(await api.trawl.store.archive.listUncleaned(10)).toHaveLength(1);
      expect((await api.request("GET", `/v1/jobs/${json.id}`)).status).toBe(404);

      await cleanUpAll(later(api, 2 * SETTLED_MS), UNSTOPPED);
      expect(await api.trawl.frontier.findJob(String(json.id))).toBeUndefined();
      expect(await api.trawl.store.readPages(String(json.id), 0, 10)).toEqual([]);
      expect(await api.trawl.store.archive.listUncleaned(10)).toEqual([]);
    }
  });
});

describe("a sweep", () => {
  async function deletedJobs(api: Awaited<ReturnType<typeof startWorking>>, most: number): Promise<string[]> {
    const ids: string[] = [];
    for (let nth = 0; nth < most; nth++) {
      const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/?${nth}`] });
      await api.trawl.store.archive.markDeleted(String(json.id), api.trawl.clock.now());
      ids.push(String(json.id));
    }
    return ids;
  }

  it("continues with other jobs if one cannot be cleaned up", async () => {
    const api = await startWorking(PAGES);
    const [bad, good] = await deletedJobs(api, 2);
    const whole = retentionDeps(api.trawl);
    const cancel = (id: string) => (id === bad ? Promise.reject(new Error("not now")) : whole.frontier.cancel(id));

    await cleanUpAll({ ...whole, frontier: { ...whole.frontier, cancel } }, UNSTOPPED);

    expect(await api.trawl.frontier.findJob(String(good))).toBeUndefined();
    await cleanUpAll(whole, UNSTOPPED);
    expect(await api.trawl.frontier.findJob(String(bad))).toBeUndefined();
  });

  it("handles a job that ends during the sweep", async () => {
    const api = await startWorking(PAGES);
    const [id] = await deletedJobs(api, 1);
    const whole = retentionDeps(api.trawl);
    let refused = 0;
    const cancel = async (jobId: string) => {
      await whole.frontier.cancel(jobId); // another process cancels the job first
      return whole.frontier.cancel(jobId).finally(() => refused++);
    };

    await cleanUpAll({ ...whole, frontier: { ...whole.frontier, cancel } }, UNSTOPPED);

    expect(refused).toBe(1);
    expect(await api.trawl.frontier.findJob(String(id))).toBeUndefined();
  });

  it("stops in the middle of a job, and the next sweep continues", async () => {
    const api = await startWorking(PAGES);
    const [id] = await deletedJobs(api, 1);
    const whole = retentionDeps(api.trawl);
    const stopping = new AbortController();
    let steps = 0;
    const forgetJob = async () => {
      steps += 1;
      stopping.abort();
      return "more" as const;
    };

    await cleanUpAll({ ...whole, frontier: { ...whole.frontier, forgetJob } }, stopping.signal);

    expect(steps).toBe(1);
    await cleanUpAll(whole, UNSTOPPED);
    expect(await api.trawl.frontier.findJob(String(id))).toBeUndefined();
  });

  it("leaves no gap in the list of jobs while deleted ones are still in the broker", async () => {
    const api = await startWorking(PAGES);
    const ids: unknown[] = [];
    for (let nth = 0; nth < 9; nth++) {
      const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/?${nth}`] });
      ids.unshift(json.id);
      if (nth > 1) continue;
      await api.request("POST", `/v1/jobs/${json.id}/cancel`);
      await archiveAll(api);
    }
    // The newest five are deleted, and no sweep has run.
    for (const id of ids.slice(0, 5)) await api.trawl.store.archive.markDeleted(String(id), api.trawl.clock.now());

    expect(await listedIds(api, 2)).toEqual(ids.slice(5));
  });
});

/** All jobs, read page by page. */
async function listedIds(api: Api, limit: number): Promise<unknown[]> {
  const listed: unknown[] = [];
  for (let next: unknown = ""; next !== null; ) {
    const { json } = await api.request("GET", `/v1/jobs?limit=${limit}${next === "" ? "" : `&cursor=${next}`}`);
    listed.push(...(json.jobs as unknown as { id: string }[]).map(({ id }) => id));
    next = json.next;
  }
  return listed;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
