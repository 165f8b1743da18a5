import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { grantsOf, settleAll, viewOf } from "../../test/contracts/frontier/makers.ts";
import { createManualClock } from "../../test/model/manual-clock.ts";
import { resolveConfig } from "../config/resolve.ts";
import { openSqliteFrontier } from "../frontier/sqlite/open.ts";
import { frontierIntake } from "./frontier-intake.ts";
import { resolveJob } from "./resolve-job.ts";
import { type StreamAnswer, submitStream } from "./submit-stream.ts";

const CAP = 10;

describe("a stream of URLs", () => {
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
    whileFull: () => Promise<void> = async () => {},
    isKeyed = false,
  ): Promise<StreamAnswer> {
    async function* stream() {
      yield* urls;
    }
    const deps = {
      frontier,
      lookUp: async (id: string) => {
        const job = await frontier.findJob(id);
        return job === undefined ? undefined : { ...job, archived: false };
      },
      asArchived: (one: typeof spec) => one,
      noteWebhook: async () => undefined,
      now: clock.now,
    };
    const intake = frontierIntake(deps, spec, { batchMost: 4, isKeyed });
    return submitStream({ intake, sleep: whileFull }, stream(), {
      refusalsMost: 3,
      onProgress: ({ taken }, isFull) => void progress.push({ taken, isFull }),
      signal: stopping.signal,
    });
  }

  const pages = (count: number) => Array.from({ length: count }, (_, nth) => `https://a.test/${nth}`);

  async function makeRoom(): Promise<void> {
    await settleAll(frontier, await grantsOf(frontier, { max: 3 }));
  }

  it("is queued in batches, then sealed, and what is unfit is named by its place in the whole", async () => {
    const answer = await submit(["https://a.test/0", "no", ...pages(6), "ftp://a.test/", "http://u:p@a.test/", "?"]);

    expect(answer).toMatchObject({ id: "job", accepted: 6, duplicates: 1, refusedCount: 4, taken: 11, isWhole: true });
    expect(answer.refused.map(({ index, url }) => [index, url])).toEqual([
      [1, "no"],
      [8, "ftp://a.test/"],
      [9, "http://u:p@a.test/"],
    ]);
    expect(progress.map(({ taken }) => taken)).toEqual([4, 8, 11]);
    expect(await viewOf(frontier)).toMatchObject({ sealed: true, counts: { submitted: 7, queued: 6, duplicate: 1 } });
  });

  it("makes no job, and seals none, where not one URL is good", async () => {
    const nothing = await submit(["no", "ftp://a.test/", "?", "neither", "nor"]);

    expect(nothing).toMatchObject({ accepted: 0, refusedCount: 5, taken: 5, isBegun: false, isWhole: true });
    expect(await frontier.findJob("job")).toBeUndefined();
    await submit(pages(25), async () => stopping.abort());
    stopping = new AbortController();
    await submit(["no"]);
    expect(await viewOf(frontier)).toMatchObject({ sealed: false });
  });

  it("makes no job when it is stopped before its first batch is whole", async () => {
    async function* stopped() {
      yield* pages(2);
      stopping.abort();
    }
    const answer = await submit(stopped());

    expect(answer).toMatchObject({ accepted: 0, taken: 0, isBegun: false, isWhole: false });
    expect(await frontier.findJob("job")).toBeUndefined();
  });

  it("waits where the broker is full and goes on at the very URL it had to stop at", async () => {
    const urls = pages(25).flatMap((url, nth) => (nth % 5 === 0 ? ["bad", url] : [url]));

    const answer = await submit(urls, makeRoom);

    expect(answer).toMatchObject({ accepted: 25, duplicates: 0, refusedCount: 5, taken: 30, isWhole: true });
    expect(progress.some(({ isFull }) => isFull)).toBe(true);
    expect((await viewOf(frontier)).counts).toMatchObject({ submitted: 25 });
  });

  it("is left unsealed when it is stopped, and is whole when it is submitted again", async () => {
    const cut = await submit(pages(25), async () => stopping.abort());

    expect(cut).toMatchObject({ accepted: CAP, taken: CAP, isWhole: false });
    expect(await viewOf(frontier)).toMatchObject({ sealed: false, state: "running" });
    stopping = new AbortController();
    const again = await submit(pages(25), makeRoom);
    expect(again).toMatchObject({ accepted: 15, duplicates: CAP, isWhole: true });
    expect(await viewOf(frontier)).toMatchObject({ sealed: true });
  });
});
