/** Jobs of `trawl crawl` over HTTP: only the process of a crawl runs its tasks, so a crawl without one must be resumed. */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { resolveConfig } from "../../src/config/resolve.ts";
import { crawlQueue } from "../../src/domain/crawl-queue.ts";
import { thisProcess } from "../../src/runtime/process-identity.ts";
import { submitList } from "../../src/submit/broker-intake.ts";
import { newJobId, resolveJob } from "../../src/submit/resolve-job.ts";
import { aRequest } from "../contracts/frontier/makers.ts";
import { type Api, startApi } from "./harness.ts";

const URLS = ["https://a.example/1", "https://a.example/2"];

async function startCrawl({ trawl }: Api, urls: readonly string[] = URLS): Promise<string> {
  const { frontier, catalogue, clock, requestBodies } = trawl;
  const id = newJobId(clock.now());
  const context = { id, requestId: "r1", queue: crawlQueue(id), typedHosts: [], out: undefined };
  const spec = resolveJob({ urls: [...urls] }, resolveConfig([]), context);
  const deps = { frontier, lookUp: catalogue.lookUp, now: clock.now, requestBodies, admit: async () => {} };
  await submitList({ ...deps, addWebhook: async () => undefined }, spec, urls, "never");
  return id;
}

async function announce({ trawl }: Api, jobId: string, worker: string): Promise<void> {
  const vitals = { concurrency: 32, busy: 0, done: 0, failed: 0, rssBytes: 1, upMs: 1 };
  const presence = { worker, queues: [crawlQueue(jobId)], unknownSpiders: [], version: "1", vitals };
  await trawl.frontier.announce(presence, 60_000);
}

function deadProcess(): string {
  const pid = String(spawnSync(process.execPath, ["--version"]).pid);
  return thisProcess().split("/").with(1, pid).join("/");
}

it("explains and traces a crawl without a process, also while the dead process is still announced", async () => {
  const api = await startApi();
  const [id, single] = [await startCrawl(api), await startCrawl(api, ["https://b.example/"])];
  const stopped = (jobId: string) => `no process runs crawl ${jobId}; continue it with: trawl crawl --resume ${jobId}`;
  await announce(api, id, deadProcess());

  for (const query of [`explain?job=${id}`, `trace?job=${id}`, `explain?url=${URLS[0]}`, `trace?url=${URLS[0]}`]) {
    const text = JSON.stringify((await api.request("GET", `/v1/${query}`)).json);
    expect(text).toContain(stopped(id));
    expect(text).not.toMatch(/trawl worker|more tasks/);
  }
  expect(JSON.stringify((await api.request("GET", `/v1/trace?job=${single}`)).json)).toContain(stopped(single));

  await announce(api, id, thisProcess());
  const running = JSON.stringify((await api.request("GET", `/v1/explain?job=${id}`)).json);
  expect(running).toContain(`1 worker serves queue crawl:${id}: it can run 32 more tasks`);
  expect(JSON.stringify((await api.request("GET", `/v1/trace?job=${id}`)).json)).not.toContain(stopped(id));
});

it("explains a crawl whose process died while all its tasks were leased", async () => {
  const api = await startApi();
  const id = await startCrawl(api, ["https://a.example/"]);
  await api.trawl.frontier.lease(aRequest({ worker: "w", queues: [crawlQueue(id)], max: 1 }));

  const reasons = String((await api.request("GET", `/v1/explain?job=${id}`)).json.reasons);

  expect(reasons).toMatch(/0 queued, .* 1 being fetched/);
  expect(reasons).toContain(`no process runs crawl ${id}`);
});

it("resumes a crawl only while its process runs", async () => {
  const api = await startApi();
  const id = await startCrawl(api);
  await api.request("POST", `/v1/jobs/${id}/pause`);
  await announce(api, id, deadProcess());

  expect(await api.request("POST", `/v1/jobs/${id}/resume`)).toMatchObject({
    status: 409,
    json: { code: "CRAWL_STOPPED", detail: expect.stringContaining(`trawl crawl --resume ${id}`) },
  });
  expect((await api.request("GET", `/v1/jobs/${id}`)).json).toMatchObject({ state: "paused" });

  await announce(api, id, thisProcess());
  expect((await api.request("POST", `/v1/jobs/${id}/resume`)).json).toMatchObject({ state: "running" });
  await api.request("POST", `/v1/jobs/${id}/cancel`);
  expect((await api.request("POST", `/v1/jobs/${id}/resume`)).json).toMatchObject({ code: "JOB_ENDED" });
});

it("explains an unknown host, but not a name that is probably that of a job", async () => {
  const api = await startApi();
  await api.request("POST", "/v1/jobs", { urls: ["http://intranet/"] });

  for (const site of ["a.example", "localhost", "db:8080"]) {
    const { json } = await api.request("GET", `/v1/explain?site=${site}`);
    expect(json.reasons).toEqual(["no job has used this site"]);
  }
  expect(await api.request("GET", "/v1/explain?site=intranet")).toMatchObject({ status: 200 });
  expect(await api.request("GET", "/v1/explain?site=nosuchjob")).toMatchObject({
    status: 404,
    json: { code: "NOT_FOUND", detail: expect.stringContaining('no job, site or URL is named "nosuchjob"') },
  });
});
