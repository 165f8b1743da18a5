import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { grantsOf, settleAll, viewOf } from "../../test/contracts/frontier/makers.ts";
import { createManualClock } from "../../test/model/manual-clock.ts";
import { directDeps } from "../../test/submit/submit-directly.ts";
import { resolveConfig } from "../config/resolve.ts";
import { openSqliteFrontier } from "../frontier/sqlite/open.ts";
import { createBrokerIntake } from "./broker-intake.ts";
import { resolveJob } from "./resolve-job.ts";
import { inBatches, type SubmitAnswer, submitUrls } from "./submit-urls.ts";

const CAP = 10;

describe("submitting a list of URLs", () => {
  const clock = createManualClock(1_750_000_000_000);
  const spec = resolveJob({ politeness: { rate: "unlimited", perSite: 1000, robots: false } }, resolveConfig([]), {
    id: "job",
    requestId: "request",
    queue: undefined,
    typedHosts: [],
    out: undefined,
  });
  let frontier: ReturnType<typeof openSqliteFrontier>;
  let stopping: AbortController;
  let progress: { taken: number; isFull: boolean }[];
  beforeEach(() => {
    frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: CAP, busyMs: 100, pollMs: 100 });
    stopping = new AbortController();
    progress = [];
  });
  afterEach(() => frontier.close());

  function submit(
    urls: Iterable<string> | AsyncIterable<string>,
    whenFull: () => Promise<void> = async () => {},
  ): Promise<SubmitAnswer> {
    async function* stream() {
      yield* urls;
    }
    const intake = createBrokerIntake(directDeps({ frontier, now: clock.now }), spec, "never");
    return submitUrls(intake, inBatches(stream(), 4), {
      ...{ isEager: false, seals: true, whenFull, budget: undefined },
      onProgress: ({ taken }, isFull) => void progress.push({ taken, isFull }),
      signal: stopping.signal,
    });
  }

  const pages = (count: number) => Array.from({ length: count }, (_, nth) => `https://a.test/${nth}`);

  async function settleSome(): Promise<void> {
    await settleAll(frontier, await grantsOf(frontier, { max: 3 }));
  }

  it("queues it in batches, seals the job, and reports invalid URLs with their position in the list", async () => {
    const answer = await submit(["https://a.test/0", "no", ...pages(6), "ftp://a.test/", "http://u:p@a.test/", "?"]);

    expect(answer).toMatchObject({ id: "job", accepted: 6, duplicates: 1, refusedCount: 4, taken: 11, isWhole: true });
    expect(answer.refused.map(({ index, url }) => [index, url])).toEqual([
      [1, "no"],
      [8, "ftp://a.test/"],
      [9, "http://u:p@a.test/"],
      [10, "?"],
    ]);
    expect(progress.map(({ taken }) => taken)).toEqual([4, 8, 11]);
    expect(await viewOf(frontier)).toMatchObject({ sealed: true, counts: { submitted: 7, queued: 6, duplicate: 1 } });
  });

  it("counts all invalid URLs, and lists the first 1,000", async () => {
    const { refused, refusedCount } = await submit(Array.from({ length: 1_200 }, (_, nth) => `no ${nth}`));

    expect(refusedCount).toBe(1_200);
    expect(refused.map(({ index }) => index)).toEqual(Array.from({ length: 1_000 }, (_, nth) => nth));
  });

  it("creates and seals no job if no URL is valid", async () => {
    const nothing = await submit(["no", "ftp://a.test/", "?", "neither", "nor"]);

    expect(nothing).toMatchObject({ accepted: 0, refusedCount: 5, taken: 5, isBegun: false, isWhole: true });
    expect(await frontier.findJob("job")).toBeUndefined();
    await submit(pages(25), async () => stopping.abort());
    stopping = new AbortController();
    await submit(["no"]);
    expect(await viewOf(frontier)).toMatchObject({ sealed: false });
  });

  it("creates no job if it is stopped before the first batch is complete", async () => {
    async function* stopped() {
      yield* pages(2);
      stopping.abort();
    }
    const answer = await submit(stopped());

    expect(answer).toMatchObject({ accepted: 0, taken: 0, isBegun: false, isWhole: false });
    expect(await frontier.findJob("job")).toBeUndefined();
  });

  it("waits while the broker is full, and continues with the next URL", async () => {
    const urls = pages(25).flatMap((url, nth) => (nth % 5 === 0 ? ["bad", url] : [url]));

    const answer = await submit(urls, settleSome);

    expect(answer).toMatchObject({ accepted: 25, duplicates: 0, refusedCount: 5, taken: 30, isWhole: true });
    expect(progress.some(({ isFull }) => isFull)).toBe(true);
    expect((await viewOf(frontier)).counts).toMatchObject({ submitted: 25 });
  });

  it("leaves the job unsealed when it is stopped, and completes it when the list is submitted again", async () => {
    const cut = await submit(pages(25), async () => stopping.abort());

    expect(cut).toMatchObject({ accepted: CAP, taken: CAP, isWhole: false });
    expect(await viewOf(frontier)).toMatchObject({ sealed: false, state: "running" });
    stopping = new AbortController();
    const again = await submit(pages(25), settleSome);
    expect(again).toMatchObject({ accepted: 15, duplicates: CAP, isWhole: true });
    expect(await viewOf(frontier)).toMatchObject({ sealed: true });
  });
});
