/** A broker that lost its last writes: after a failover to a replica, or a crash. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { aJob, aTask, grantsOf, oneGrant, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { createStage } from "../redis/stage.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { waitUntil } from "../services/wait-until.ts";

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`a server (${obstacle ?? "available"})`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it("that becomes master again restarts the interval of every site", async () => {
    const stage = createStage(server.url);
    const frontier = await stage.open();
    await submit(frontier, aJob(), tasksAt("a.test", 3));
    const meta = `${stage.prefix}:{0}:meta`;
    const leaseAfterLoss = async () => {
      await withRedis(server.port, (redis) => redis.call("CLIENT", "KILL", "TYPE", "normal"));
      await frontier.listJobs(1); // reconnects, so that the lease is not a repeated call
      await grantsOf(frontier, { max: 1 });
    };
    await leaseAfterLoss(); // loads the scripts into the server

    // A master that was a replica for a while has the mark of the other server in its keys, and no clients.
    await withRedis(server.port, (redis) => redis.hset(meta, "run", "0123456789012345678901234567890123456789"));
    await leaseAfterLoss();

    expect(Number(await withRedis(server.port, (redis) => redis.hget(meta, "floor")))).toBeGreaterThan(0);
  });

  it("that has lost its last writes does not reuse the id of a lost task", async () => {
    const frontier = await createStage(server.url).open();
    await frontier.createJob(aJob());
    await withRedis(server.port, (redis) => redis.call("SAVE"));
    await frontier.enqueue("job", [aTask("https://a.test/lost")]);
    const before = await oneGrant(frontier);

    await server.restart(); // with the saved writes only
    await frontier.enqueue("job", [aTask("https://a.test/other")]);
    const after = await oneGrant(frontier);

    expect(after.url).toBe("https://a.test/other");
    expect(after.taskId).not.toBe(before.taskId);
  });

  it("that refuses writes without a replica makes calls wait", async () => {
    const stage = createStage(server.url);
    const frontier = await stage.open();
    const need = (replicas: number) =>
      withRedis(server.port, (redis) => redis.config("SET", "min-replicas-to-write", replicas));
    onTestFinished(async () => {
      await need(0);
    });
    await need(1);

    const creating = frontier.createJob(aJob());
    expect(await waitUntil(() => stage.events.includes("broker.lost"), 5_000)).toBe(true);
    await need(0);

    await creating;
    expect(await frontier.listJobs(1)).toHaveLength(1);
  });
});
