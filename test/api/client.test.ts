/** The client against a real server and worker: what it promises holds through lost connections and a full broker. */
import { describe, expect, it } from "vitest";
import { ApiError, connect, isApiError } from "../../src/client/client.ts";
import { startApi } from "./harness.ts";
import { startLine } from "./line.ts";
import { takeSome } from "./take-some.ts";
import { startWorking } from "./work.ts";

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

  it("throws what the server says is wrong, by its code", async () => {
    const { url } = await startApi();
    const trawl = connect(url);

    const missing = await trawl
      .job("j1")
      .state()
      .catch((error: unknown) => error);
    const wrong = await trawl.submit({ urls: [], priority: 99 }).catch((error: unknown) => error);

    expect(missing).toBeInstanceOf(ApiError);
    expect(missing).toMatchObject({ code: "NOT_FOUND", status: 404, fix: expect.stringMatching(/\w/) });
    expect(isApiError(wrong, "BAD_REQUEST") && wrong.message).toMatch(/priority/);
  });

  it("submits lists that are longer than a request, and waits where the broker is full", async () => {
    const { url, trawl: server } = await startApi({ maxPending: 7_000 });
    const urls = Array.from({ length: 12_000 }, (_, nth) => `https://a.example/${nth}`);
    const submitting = connect(url).submit(urls);
    const emptying = (async () => {
      for (let done = 0; done < 12_000; ) done += await takeSome(server.frontier);
    })();

    const [job] = await Promise.all([submitting, emptying]);

    expect(job).toMatchObject({ refusedCount: 0 });
    expect(await job.state()).toMatchObject({ sealed: true, counts: { submitted: expect.any(Number), done: 12_000 } });
  });

  it("makes one job, and hears its end, over a line that breaks", async () => {
    const { url, ask, trawl: server } = await startApi();
    const line = await breakingLine(url);
    const trawl = connect(line);

    const job = await trawl.submit({ open: true }); // the first answer gets lost
    const waiting = job.wait();
    const first = await waitFor(
      async () => ((await ask("GET", "/v1/jobs")).json.jobs as unknown as unknown[]).length > 0,
    );
    await server.frontier.cancel(job.id);

    expect(first).toBe(true);
    expect(await waiting).toMatchObject({ state: "cancelled" });
    expect((await ask("GET", "/v1/jobs")).json.jobs).toHaveLength(1);
  });

  it("stops when it is told to", async () => {
    const { url } = await startApi();
    const job = await connect(url).submit({ open: true });
    const leaving = new AbortController();

    const waiting = job.wait({ signal: leaving.signal }).catch((error: unknown) => error);
    leaving.abort(new Error("enough"));

    expect(await waiting).toMatchObject({ message: "enough" });
  });
});

async function waitFor(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let left = 100; left > 0; left -= 1) if (await isSo()) return true;
  return false;
}

/** Breaks off in the middle of the first answer to each path. */
function breakingLine(to: string): Promise<string> {
  const broken = new Set<string>();
  return startLine(to, (path, pass) => {
    if (broken.has(path)) return pass();
    broken.add(path);
    return "cut";
  });
}
