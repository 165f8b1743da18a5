/** Redis at maxmemory (F13): new tasks are refused, and everything that frees memory works. */
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/runtime/clock.ts";
import {
  aJob,
  aTask,
  countsOf,
  grantsOf,
  oneGrant,
  returnedAfter,
  settleAll,
  submit,
  tasksAt,
} from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { waitUntil } from "../services/wait-until.ts";
import { createStage } from "./stage.ts";

const clock = systemClock();

/** Sets the memory limit of the server below its current use. */
async function fill({ port }: RedisServer): Promise<void> {
  await withRedis(port, async (redis) => {
    const [, used] = /^used_memory:(\d+)/m.exec(await redis.info("memory")) ?? [];
    await redis.config("SET", "maxmemory", Number(used) - 200_000);
  });
}

describe("Redis out of memory", () => {
  for (const shards of [1, 3]) {
    it(`F13 refuses new tasks, and lets workers settle until memory is free again, on ${shards} shard(s)`, async () => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      const frontier = await createStage(server.url, { shards }).open();
      const sites = Array.from({ length: 8 }, (_, nth) => `site-${nth}.test`);
      // These tasks need much more memory than the scripts that are loaded later.
      await submit(
        frontier,
        aJob(),
        sites.flatMap((site) => tasksAt(`long-name-of-${site}`, 10_000)),
      );
      const dead = await grantsOf(frontier, { max: 3 });
      await settleAll(frontier, dead, { outcome: { kind: "dead", because: "too_big" } });
      await fill(server);

      const { full } = await frontier.enqueue("job", [aTask("https://new.test/")]);
      expect(full).toEqual({ taken: 0, retryAfterMs: expect.any(Number) });
      await expect(frontier.createJob(aJob({ id: "another" }))).rejects.toMatchObject({ code: "BROKER_FULL" });

      const [one, two, three] = await grantsOf(frontier, { max: 3, worker: "w" });
      if (one === undefined || two === undefined || three === undefined) throw new Error("expected three due tasks");
      expect(await frontier.extend([one, two], 60_000)).toEqual([true, true]);
      await frontier.release([two]);
      expect(await frontier.abandon("w")).toBe(2);
      await oneGrant(frontier, { leaseMs: 0 });
      expect(await frontier.reap(100)).toBeGreaterThanOrEqual(1);
      await frontier.setSitePolicy("other.test", { intervalMs: 1000, burst: 1, perSite: 1 });
      const term = await frontier.openTerm({ worker: "w", site: "other.test", returned: undefined });
      if (term === undefined) throw new Error("expected a term");
      await frontier.returnTerms([returnedAfter(term, [])]);
      const robots = { kind: "absent", text: "", fetchedAt: clock.now(), freshUntil: clock.now() + 1000 } as const;
      await frontier.keepRobots("long-name-of-site-0.test", robots, 0);
      await frontier.announce({ worker: "w", queues: ["fetch"], unknownSpiders: [], version: "1" }, 1000);
      expect(await frontier.listDead({}, 10)).toHaveLength(3);
      expect(await frontier.discardDead({}, 1)).toBe(1);
      await expect(frontier.replayDead({}, 10, 100)).rejects.toMatchObject({ code: "BROKER_FULL" });
      await frontier.pause("job");
      await frontier.resume("job");

      // Links of pages are still accepted: on other shards, and more than fit into one settlement.
      const links = sites.flatMap((site) => tasksAt(`of-${site}`, 150));
      await settleAll(frontier, [await oneGrant(frontier)], { discovered: links });
      expect(await countsOf(frontier)).toMatchObject({ discovered: links.length, done: 1 });

      for (let grants = await grantsOf(frontier, { max: 500 }); grants.length > 0; ) {
        await settleAll(frontier, grants);
        grants = await grantsOf(frontier, { max: 500 });
      }
      // Redis also counts buffers of connections, and frees them a little later.
      const isAccepted = async () => (await frontier.enqueue("job", [aTask("https://new.test/")])).queued === 1;
      expect(await waitUntil(isAccepted, 10_000)).toBe(true);
    });
  }
});
