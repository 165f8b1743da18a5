/** The master is killed during a job, and sentinels promote its replica. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/runtime/clock.ts";
import { aJob, submit, tasksAt, viewOf } from "../contracts/frontier/makers.ts";
import { workOnce } from "../redis/paced-worker.ts";
import { createStage } from "../redis/stage.ts";
import { findRedisObstacle } from "../services/redis.ts";
import { type SentinelGroup, startSentinelGroup } from "../services/sentinel.ts";
import { waitUntil } from "../services/wait-until.ts";

const INTERVAL_MS = 150;
const URLS = 12;
const TIMEOUT_MS = 30_000;
const clock = systemClock();

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

    let killing: Promise<void> | undefined;
    const onSend = () => {
      sentAt.push(clock.now());
      // In the middle of a term.
      if (sentAt.length === 3) killing = master.kill();
    };

    const isOver = async () => {
      await workOnce(frontier, { worker: "w", clock, max: 4, requestMs: 0, onSend });
      await killing;
      await frontier.reap(100);
      return (await viewOf(frontier)).state === "finished";
    };
    expect(await waitUntil(isOver, TIMEOUT_MS)).toBe(true);

    expect(await group.findMaster()).toBe(replica.port);
    // A lease or settlement that had not reached the replica is repeated: a page may be fetched twice, but is never
    // lost.
    expect(sentAt.length).toBeGreaterThanOrEqual(URLS);
    const gaps = sentAt.slice(1).map((at, nth) => at - (sentAt[nth] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(INTERVAL_MS);
  });
});

async function masterAndReplica({ servers, findMaster }: SentinelGroup) {
  const [one, other] = servers;
  return (await findMaster()) === one.port ? ([one, other] as const) : ([other, one] as const);
}
