/** Replayed dead letters reopen their job on all shards, and no other job (F15). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnyFrontier } from "../contracts/frontier/backend.ts";
import {
  aJob,
  aTask,
  countsOf,
  grantsOf,
  oneGrant,
  settleAll,
  submit,
  tasksAt,
  viewOf,
} from "../contracts/frontier/makers.ts";
import { auditShard } from "../model/redis-audit.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { createStage } from "./stage.ts";

const JOBS = Array.from({ length: 8 }, (_, nth) => `job-${nth}`);

describe("a replay on several shards", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  /** Ended jobs, each with one dead letter at its own site. */
  async function open() {
    const stage = createStage(server.url, { shards: 3 });
    const frontier = await stage.open();
    for (const id of JOBS) await failJob(frontier, id);
    return { stage, frontier };
  }

  async function failJob(frontier: AnyFrontier, id: string): Promise<void> {
    await submit(frontier, aJob({ id }), [aTask(`https://${id}.test/`)]);
    await settleAll(frontier, await grantsOf(frontier), { outcome: { kind: "dead", because: "too_big" } });
    expect(await frontier.seal(id)).toBe(true);
  }

  async function running(frontier: AnyFrontier): Promise<string[]> {
    const views = await frontier.listJobs(100);
    return views.flatMap(({ id, state }) => (state === "running" ? [id] : []));
  }

  it("F15 with a limit reopens the jobs of the replayed tasks, and no others", async () => {
    const { frontier } = await open();

    for (const count of [1, 2, 3]) {
      expect(await frontier.replayDead({}, 1, 10)).toMatchObject({ replayed: 1 });
      const open = await running(frontier);
      expect(open).toHaveLength(count);
      for (const id of open) expect(await countsOf(frontier, id)).toEqual({ submitted: 1, queued: 1 });
    }
  });

  it("F15 skips letters of cancelled jobs, and reopens the jobs after them", async () => {
    const frontier = await createStage(server.url, { shards: 3 }).open();
    for (const id of JOBS) {
      await submit(frontier, aJob({ id }), tasksAt(`${id}.test`, 2));
      await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "dead", because: "too_big" } });
      await frontier.cancel(id);
    }
    await failJob(frontier, "behind");

    expect(await frontier.replayDead({}, 1, 10)).toMatchObject({ replayed: 1 });

    expect(await running(frontier)).toEqual(["behind"]);
  });

  it("F15 reopens a job on all shards: links to any shard are accepted, and the job ends again", async () => {
    const { stage, frontier } = await open();
    const [id = ""] = JOBS;
    expect(await frontier.replayDead({ jobId: id }, 1, 10)).toMatchObject({ replayed: 1 });

    const links = Array.from({ length: 20 }, (_, nth) => aTask(`https://linked-${nth}.test/`));
    await settleAll(frontier, [await oneGrant(frontier)], { discovered: links });
    expect(await countsOf(frontier, id)).toEqual({ submitted: 1, discovered: 20, queued: 20, done: 1 });
    await frontier.pause(id);
    expect(await grantsOf(frontier)).toEqual([]);
    await frontier.resume(id);
    await settleAll(frontier, await grantsOf(frontier));

    expect(await viewOf(frontier, id)).toMatchObject({ state: "finished", counts: { done: 21 } });
    for (const index of [0, 1, 2]) expect(await auditShard(server.port, `${stage.prefix}:{${index}}`)).toEqual([]);
  });
});
