/** Shared sets of seen URLs with expiring entries (F9) do not grow without limit. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { START_AT } from "../contracts/frontier/backend.ts";
import { aJob, grantsOf, settleAll, submit, tasksAt, viewOf } from "../contracts/frontier/makers.ts";
import { createManualClock } from "../model/manual-clock.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { createStage } from "./stage.ts";

const DAY_MS = 86_400_000;
const dedup = { scope: "daily-news", expireAfterMs: DAY_MS };
const MANY = 3000;

describe("expired entries", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function open() {
    const clock = createManualClock(START_AT);
    const stage = createStage(server.url, { clock, time: "caller" });
    const frontier = await stage.open();
    const kept = () => withRedis(server.port, (redis) => redis.hlen(`${stage.prefix}:{0}:lapse:1`));
    /** Calls the reaper more often than needed to check all entries. */
    const reap = async () => {
      for (let nth = 0; nth < 20; nth++) {
        clock.advance(100);
        await frontier.reap(100);
      }
      clock.advance(60_000);
    };
    return { clock, frontier, kept, reap };
  }

  it("F9 are removed by reapers in bounded steps, and the others stay", async () => {
    const { clock, frontier, kept, reap } = await open();
    await submit(frontier, aJob({ dedup }), tasksAt("old.test", MANY));
    await frontier.seal("job");
    for (let left = MANY; left > 0; left -= 500) await settleAll(frontier, await grantsOf(frontier, { max: 500 }));
    expect((await viewOf(frontier)).state).toBe("finished");
    clock.advance(1.5 * DAY_MS);
    await submit(frontier, aJob({ id: "next", dedup }), tasksAt("young.test", MANY));
    await reap();
    expect(await kept()).toBe(2 * MANY);

    clock.advance(DAY_MS / 2);
    await frontier.reap(100);
    expect(await kept()).toBeGreaterThan(2 * MANY - 1000);
    await reap();

    expect(await kept()).toBe(MANY);
    expect((await frontier.enqueue("next", tasksAt("old.test", 2))).queued).toBe(2);
    expect((await frontier.enqueue("next", tasksAt("young.test", 2))).duplicates).toBe(2);
  });

  it("F16 can be explained for another day", async () => {
    const { clock, frontier, kept, reap } = await open();
    await submit(frontier, aJob({ dedup }), tasksAt("slow.test", 10));
    await frontier.pause("job");
    clock.advance(DAY_MS);
    await reap();
    const { reasons } = await frontier.explain({ url: "https://slow.test/1" });
    expect(reasons.join(" ")).toContain("paused");

    clock.advance(DAY_MS);
    await reap();
    expect(await kept()).toBe(0);
  });
});
