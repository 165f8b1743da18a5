/**
 * A worker crashes before or after each step of the second crawl of a set: no change is lost, and none is emitted
 * twice.
 */
import { describe, expect, it, onTestFinished } from "vitest";
import { composeWorker } from "../../src/compose/worker.ts";
import { thisProcess } from "../../src/runtime/process-identity.ts";
import { NO_TRACING } from "../../src/runtime/tracing.ts";
import type { JobInput } from "../../src/submit/job-schema.ts";
import { startChangingSite } from "./changing-site.ts";
import { openWorld, resultsOf, type World, workToEnd } from "./world.ts";

/** Where the worker crashes. */
type Crash = { op: "write" | "settle"; nth: number; when: "before" | "after" };

const CRASHES: Crash[] = (["write", "settle"] as const).flatMap((op) =>
  [1, 2, 3, 4, 5].flatMap((nth) => (["before", "after"] as const).map((when) => ({ op, nth, when }))),
);

describe.each(["inline", "queue"] as const)("a recrawl that parses %s", (parse) => {
  it.each(CRASHES)("survives a crash $when $op number $nth", async (crash) => {
    const site = await startChangingSite({
      "/": { title: "home", links: ["/a", "/b", "/c", "/d"] },
      ...{ "/a": { title: "a" }, "/b": { title: "b" }, "/c": { title: "c", by: "nothing" }, "/d": { title: "d" } },
    });
    onTestFinished(() => site.origin.close());
    const world = await openWorld({ concurrency: 1 });
    const job: JobInput = { urls: [site.url], parse, recrawl: { set: "s", emit: "changed" } };
    await world.crawl(job);
    site.pages.set("/", { title: "home 2", links: ["/a", "/b", "/c", "/d"] });
    site.pages.set("/b", { title: "b2" });
    site.pages.set("/c", { title: "c2", by: "nothing" });

    const jobId = await world.submit(job);
    expect(await crashAt(world, crash)).toBe("crashed");
    await world.trawl.frontier.abandon(thisProcess());
    await workToEnd(world.trawl, jobId);

    const { titles, pages, job: ended } = await resultsOf(world.trawl, jobId);
    expect(titles).toEqual(["b2", "c2", "home 2"]);
    expect(pages.map(({ url, unchanged }) => `${new URL(url).pathname} ${unchanged}`).sort()).toEqual([
      ...["/ false", "/a true", "/b false", "/c false", "/d true"],
    ]);
    expect(ended).toMatchObject({ state: "finished", tally: { pages: 5, records: 3 }, counts: { dead: 0 } });
    expect((await world.crawl(job)).titles).toEqual([]);
  });
});

it.each(["etag", "nothing"] as const)(
  "ignores the memory of a crashed attempt if the page is unchanged afterwards (%s)",
  async (by) => {
    const site = await startChangingSite({ "/": { title: "one", by } });
    onTestFinished(() => site.origin.close());
    const world = await openWorld({ concurrency: 1 });
    const job: JobInput = { urls: [site.url], recrawl: { set: "s", emit: "changed" } };
    await world.crawl(job);

    site.pages.set("/", { title: "two", by });
    const jobId = await world.submit(job);
    expect(await crashAt(world, { op: "write", nth: 1, when: "after" })).toBe("crashed");
    await world.trawl.frontier.abandon(thisProcess());
    site.pages.set("/", { title: "one", by });
    await workToEnd(world.trawl, jobId);
    expect((await resultsOf(world.trawl, jobId)).titles).toEqual([]);

    site.pages.set("/", { title: "two", by });
    expect((await world.crawl(job)).titles).toEqual(["two"]);
  },
);

/** Runs a worker until that point. After it, all calls fail, as in a killed process. */
async function crashAt({ trawl, config }: World, crash: Crash): Promise<string> {
  let [isCrashed, count] = [false, 0];
  function crashing<T extends object>(part: T, op: string): T {
    return new Proxy(part, {
      get(target, name) {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== "function") return method;
        return async (...args: unknown[]) => {
          if (isCrashed) throw new Error("crashed");
          const isDue = name === op && op === crash.op && ++count === crash.nth;
          if (isDue && crash.when === "before") isCrashed = true;
          if (isCrashed) throw new Error("crashed");
          const answer = (await method.apply(target, args)) as unknown;
          if (isDue) isCrashed = true;
          if (isCrashed) throw new Error("crashed");
          return answer;
        };
      },
    });
  }
  const parts = {
    ...{ ...trawl, tracing: NO_TRACING },
    store: crashing(trawl.store, "write"),
    frontier: crashing(trawl.frontier, "settle"),
  };
  const { worker, close } = composeWorker(config, parts, {
    queues: ["fetch", "parse"],
    allowHosts: ["127.0.0.1"],
    mayUseAllSecrets: false,
    unreadableJob: "ends-worker",
    onFinished: () => {},
    maxTasks: Number.POSITIVE_INFINITY,
  });
  worker.start();
  const end = await worker.ended.then(
    () => "ended",
    (error: Error) => error.message,
  );
  await worker.stop().catch(() => {});
  await close();
  return end;
}
