/** The client with a real server and worker: it keeps its guarantees over lost connections and with a full broker. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openRemoteIntake } from "../../src/cli/plane/remote-intake.ts";
import { ApiError, connect, isApiError } from "../../src/client/client.ts";
import { createRequests } from "../../src/client/requests.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { resolveJob } from "../../src/submit/resolve-job.ts";
import { newFolder } from "../e2e/folder.ts";
import { startBreakingProxy } from "./breaking-proxy.ts";
import { startApi } from "./harness.ts";
import { settleTasks } from "./settle-tasks.ts";
import { startWorking } from "./working-api.ts";

const page = (nth: number) => [`/${nth}`, `<h1>page ${nth}</h1>`] as const;
const PAGES = Object.fromEntries(Array.from({ length: 20 }, (_, nth) => page(nth)));
const QUICK = { politeness: { robots: false }, extract: { title: "h1" } };

describe("the client", () => {
  it("submits, follows and reads a job", async () => {
    const { url, site, startWorker } = await startWorking(PAGES);
    const trawl = connect(`${url}/`);
    const urls = Object.keys(PAGES).map((path) => site.url + path);

    const job = await trawl.submit({ name: "shop", urls: [...urls, urls[0] ?? "", "nonsense"], ...QUICK });
    const titles: unknown[] = [];
    const reading = (async () => {
      for await (const record of job.records()) titles.push(record.title);
    })();
    const states: string[] = [];
    const following = (async () => {
      for await (const { event, job: now } of job.events()) states.push(`${event} ${now.state}`);
    })();
    await startWorker();
    const ended = await job.wait();
    await Promise.all([reading, following]);

    expect(job).toMatchObject({ accepted: 20, duplicates: 1, refusedCount: 1, refused: [{ url: "nonsense" }] });
    expect(ended).toMatchObject({ id: job.id, name: "shop", state: "finished", counts: { done: 20 } });
    expect(titles.sort()).toEqual(Array.from({ length: 20 }, (_, nth) => `page ${nth}`).sort());
    expect(states.at(0)).toBe("job running");
    expect(states.at(-1)).toBe("end finished");
    const pages: string[] = [];
    for await (const one of trawl.job(job.id).pages()) pages.push(one.url);
    expect(pages.sort()).toEqual([...urls].sort());
    const listed: string[] = [];
    for await (const one of trawl.jobs()) listed.push(one.id);
    expect(listed).toEqual([job.id]);
  });

  it("scrapes a page", async () => {
    const { url, site, startWorker } = await startWorking(PAGES);
    await startWorker();

    const scraped = await connect(url).scrape({ url: `${site.url}/3`, ...QUICK });

    expect(scraped).toMatchObject({ outcome: "page", records: [{ title: "page 3" }] });
  });

  it("throws the error of the server with its code", async () => {
    const { url } = await startApi();
    const trawl = connect(url);

    const missing = await trawl
      .job("j1")
      .state()
      .catch((error: unknown) => error);
    const wrong = await trawl.submit({ urls: [], priority: 99 }).catch((error: unknown) => error);

    for (const id of ["", ".", ".."]) {
      expect(() => trawl.job(id)).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
    }
    expect(missing).toBeInstanceOf(ApiError);
    expect(missing).toMatchObject({ code: "NOT_FOUND", status: 404, fix: expect.stringMatching(/\w/) });
    expect(isApiError(wrong, "BAD_REQUEST") && wrong.message).toMatch(/priority/);
  });

  it("submits a list that needs several requests, and waits while the broker is full", async () => {
    const { url, trawl: server } = await startApi({ maxPending: 7_000 });
    const urls = Array.from({ length: 12_000 }, (_, nth) => `https://a.example/${nth}`);
    const submitting = connect(url).submit(urls);
    const emptying = (async () => {
      for (let done = 0; done < 12_000; ) done += await settleTasks(server.frontier);
    })();

    const [job] = await Promise.all([submitting, emptying]);

    expect(job).toMatchObject({ refusedCount: 0 });
    expect(await job.state()).toMatchObject({ sealed: true, counts: { submitted: expect.any(Number), done: 12_000 } });
  });

  it("creates one job and sees its end over a connection that breaks", async () => {
    const { url, request, trawl: server } = await startApi();
    const proxyUrl = await cutFirstAnswers(url);
    const trawl = connect(proxyUrl);

    const job = await trawl.submit({ open: true }); // the first answer gets lost
    const waiting = job.wait();
    const first = await waitFor(
      async () => ((await request("GET", "/v1/jobs")).json.jobs as unknown as unknown[]).length > 0,
    );
    await server.frontier.cancel(job.id);

    expect(first).toBe(true);
    expect(await waiting).toMatchObject({ state: "cancelled" });
    expect((await request("GET", "/v1/jobs")).json.jobs).toHaveLength(1);
  });

  it("continues after a server was killed and restarted seconds later", async () => {
    const folder = newFolder();
    const places = { broker: `sqlite:${join(folder, "broker.db")}`, store: `sqlite:${join(folder, "store.db")}` };
    const first = await startApi(places);
    const apiPort = Number(new URL(first.url).port);
    const { id } = await connect(first.url).submit({ open: true });
    await first.stop();

    const waits: number[] = [];
    let starting: Promise<unknown> | undefined;
    const onWait = (_: unknown, ms: number) => {
      if (waits.push(ms) === 4) starting = startApi({ ...places, apiPort });
    };
    const state = await connect(first.url, { onWait }).job(id).state();

    await starting;
    expect(state).toMatchObject({ id, state: "running" });
    expect(waits.slice(0, 4)).toEqual([250, 500, 1_000, 2_000]);
  });

  it("retries as often as configured, and throws a code if no server answers", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const waits: number[] = [];
    let refusals = 11;
    const refusing = async (): Promise<Response> => {
      if (refusals-- > 0) throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
      return Response.json({ id: "j1" });
    };
    const onWait = (_: unknown, ms: number) => void waits.push(ms);
    const pending = connect("http://a.example", { fetch: refusing, tries: 12, onWait }).job("j1").state();
    await vi.runAllTimersAsync();

    expect(await pending).toEqual({ id: "j1" });
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, ...Array(5).fill(10_000)]);
    refusals = 1;
    const given = connect("http://a.example", { fetch: refusing, tries: 1 }).job("j1").state();
    const error = await given.catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      ...{ code: "API_UNREACHABLE", status: 0, fix: expect.stringContaining("trawl serve") },
      message: "http://a.example: connect ECONNREFUSED",
    });
  });

  it("receives the webhook secret even if the broker is full", async () => {
    const { url, request, trawl: server } = await startApi({ maxPending: 2 });
    const urls = Array.from({ length: 5 }, (_, nth) => `https://a.example/${nth}`);
    const webhook = { url: "https://receiver.example/" };

    const { status, json } = await request("POST", "/v1/jobs", { urls, webhook });
    const kept = await server.store.webhooks.find(String(json.id));
    const context = { id: "own", requestId: "r1", queue: undefined, typedHosts: [], out: undefined };
    const job = { urls, webhook };
    const intake = await openRemoteIntake(createRequests(url, {}), {
      spec: resolveJob(job, resolveConfig([]), context),
      ...{ job, urls, resume: undefined, key: undefined, requestId: undefined },
    });
    const begun = await intake.begin();

    expect([status, json.code, json.taken]).toEqual([429, "BROKER_FULL", 2]);
    expect(json.webhookSecret).toBe(kept?.secret);
    expect(begun.webhookSecret).toBe((await server.store.webhooks.find(begun.id))?.secret);
    const given = await request("POST", "/v1/jobs", { urls, webhook: { ...webhook, secret: kept?.secret } });
    expect(JSON.stringify(given.json)).not.toContain("whsec_");
  });

  it("stops when its signal aborts", async () => {
    const { url } = await startApi();
    const job = await connect(url).submit({ open: true });
    const controller = new AbortController();

    const waiting = job.wait({ signal: controller.signal }).catch((error: unknown) => error);
    controller.abort(new Error("enough"));

    expect(await waiting).toMatchObject({ message: "enough" });
  });
});

async function waitFor(condition: () => Promise<boolean>): Promise<boolean> {
  for (let left = 100; left > 0; left -= 1) if (await condition()) return true;
  return false;
}

/** Cuts the first answer to each path in the middle. */
function cutFirstAnswers(to: string): Promise<string> {
  const broken = new Set<string>();
  return startBreakingProxy(to, (path, pass) => {
    if (broken.has(path)) return pass();
    broken.add(path);
    return "cut";
  });
}
