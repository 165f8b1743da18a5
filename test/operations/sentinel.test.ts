/** The master is killed during a job, and sentinels promote its replica. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aJob, grantsOf, settlementOf, submit, tasksAt, viewOf } from "../contracts/frontier/makers.ts";
import { createStage } from "../redis/stage.ts";
import { findRedisObstacle } from "../services/redis.ts";
import { type SentinelGroup, startSentinelGroup } from "../services/sentinel.ts";
import { waitUntil } from "../services/wait-until.ts";

const INTERVAL_MS = 150;
const URLS = 12;
const TIMEOUT_MS = 30_000;
/** Slots are in the time of this process. The comparison with the broker's clock has an error below a millisecond. */
const CLOCK_ERROR_MS = 1;

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`behind sentinels (${obstacle ?? "available"})`, () => {
  let group: SentinelGroup;
  beforeAll(async () => {
    group = await startSentinelGroup({ sentinels: 3 });
  });
  afterAll(() => group.stop());

  it("a job continues when the master is killed, and no request is sent too early", async () => {
    const frontier = await createStage(group.url).open();
    const policy = { intervalMs: INTERVAL_MS, burst: 1, perSite: 1 };
    await submit(frontier, aJob({ policy }), tasksAt("a.test", URLS));
    await frontier.seal("job");
    const [master, replica] = await masterAndReplica(group);
    const sentAt: number[] = [];

    const isOver = async () => {
      const grants = await grantsOf(frontier);
      sentAt.push(...grants.map(({ slot }) => slot.sendAt));
      if (sentAt.length === 3 && grants.length > 0) await master.kill();
      await frontier.settle(grants.map((grant) => settlementOf(grant)));
      await frontier.reap(100);
      return (await viewOf(frontier)).state === "finished";
    };
    expect(await waitUntil(isOver, TIMEOUT_MS)).toBe(true);

    expect(await group.findMaster()).toBe(replica.port);
    // A lease or settlement that had not reached the replica is repeated: a page may be fetched twice, but is never
    // lost.
    expect(sentAt.length).toBeGreaterThanOrEqual(URLS);
    const gaps = sentAt.slice(1).map((at, nth) => at - (sentAt[nth] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(INTERVAL_MS - CLOCK_ERROR_MS);
  });
});

async function masterAndReplica({ servers, findMaster }: SentinelGroup) {
  const [one, other] = servers;
  return (await findMaster()) === one.port ? ([one, other] as const) : ([other, one] as const);
}
