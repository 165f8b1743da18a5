/** Redis out of reach, slow, emptied, or not letting us in. */
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { TrawlError } from "../../src/errors.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { aJob, aRequest, aTask, countsOf, grantsOf, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-talk.ts";
import { createStage } from "./stage.ts";

const clock = systemClock();
const SECRET = "s3cr3t-of-the-broker";

async function errorOf(call: Promise<unknown>): Promise<TrawlError> {
  const error = await call.then(
    () => new Error("it went well"),
    (cause: unknown) => cause,
  );
  if (!(error instanceof TrawlError)) throw error;
  return error;
}

async function guarded(password: string): Promise<RedisServer> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  await withRedis(server.port, (redis) => redis.config("SET", "requirepass", password));
  return server;
}

describe("a Redis that cannot be worked with", () => {
  it("says after the patience it was given that it is out of reach, and what to do, but not the password", async () => {
    const server = await guarded(SECRET);
    const url = `redis://:${SECRET}@127.0.0.1:${server.port}`;
    const stage = createStage(url, { patienceMs: 300 });
    const frontier = await stage.open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));

    await server.kill();
    const startedAt = clock.now();
    const errors = [await errorOf(frontier.lease(aRequest())), await errorOf(stage.open())];

    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(2 * 300);
    for (const error of errors) {
      expect(error.code).toBe("BROKER_UNREACHABLE");
      expect(error.message).toMatch(/127\.0\.0\.1:\d+ has not been reached for .*TRAWL_BROKER/);
      expect(error.message).toMatch(/nobody listens at/);
      expect(inspect(error, { depth: 9 })).not.toContain(SECRET);
    }
  });

  it("says of one that stands still that it takes connections and does not answer", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    process.kill(server.pid, "SIGSTOP");

    const error = await errorOf(createStage(server.url, { patienceMs: 300 }).open());

    expect(error.code).toBe("BROKER_UNREACHABLE");
    expect(error.message).toMatch(/127\.0\.0\.1:\d+ takes connections and does not answer/);
  });

  it("says at once that a password is wrong", async () => {
    const server = await guarded("another");
    const urls = [`redis://:${SECRET}@127.0.0.1:${server.port}`, `redis://x:${SECRET}@127.0.0.1:${server.port}`];

    for (const url of [...urls, server.url]) {
      const startedAt = clock.now();
      const error = await errorOf(createStage(url, { patienceMs: 60_000 }).open());
      expect(error.code).toBe("BROKER_UNREACHABLE");
      expect(error.message).toMatch(/refuses us: .*(WRONGPASS|NOAUTH)/);
      expect(inspect(error, { depth: 9 })).not.toContain(SECRET);
      expect(clock.now() - startedAt).toBeLessThan(30_000);
    }
  });

  it("says at once which right is missing", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    await withRedis(server.port, (redis) =>
      redis.call("ACL", "SETUSER", "weak", "on", `>${SECRET}`, "~*", "&*", "+@all", "-@scripting"),
    );

    const error = await errorOf(createStage(`redis://weak:${SECRET}@127.0.0.1:${server.port}`).open());

    expect(error).toMatchObject({ code: "BROKER_UNREACHABLE" });
    expect(error.message).toMatch(/refuses us: .*NOPERM.*eval/);
    expect(inspect(error, { depth: 9 }).length).toBeLessThan(5000);
  });
});

describe("a Redis in trouble", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it("lets calls through when it goes on after a pause", async () => {
    const frontier = await createStage(server.url).open();
    await submit(frontier, aJob(), tasksAt("a.test", 10));

    await withRedis(server.port, (redis) => redis.call("CLIENT", "PAUSE", 300, "ALL"));
    const calls = [frontier.lease(aRequest({ max: 3 })), frontier.enqueue("job", tasksAt("b.test", 5))] as const;
    const [{ grants }, { queued }] = await Promise.all(calls);

    expect([grants.length, queued]).toEqual([3, 5]);
    expect(await countsOf(frontier)).toEqual({ submitted: 15, leased: 3, queued: 12 });
  });

  it("F1 has granted nothing twice, nor kept anything back, after it stood still for longer than answers take", async () => {
    const stage = createStage(server.url);
    const frontier = await stage.open();
    await submit(frontier, aJob(), tasksAt("a.test", 10));
    expect(await grantsOf(frontier, { max: 1 })).toHaveLength(1);

    process.kill(server.pid, "SIGSTOP");
    const call = frontier.lease(aRequest({ max: 3 }));
    const isLost = () => stage.events.includes("broker.lost");
    while (!isLost()) await clock.sleep(10);
    process.kill(server.pid, "SIGCONT");

    // The first try, given up on, is carried out too: what it was granted is handed back.
    expect((await call).grants).toHaveLength(3);
    expect(await countsOf(frontier)).toEqual({ submitted: 10, leased: 4, queued: 6 });
    expect(await frontier.listHolders()).toEqual([{ worker: "worker", leases: 4 }]);
  });

  it("says that the broker was emptied under what runs on it", async () => {
    const frontier = await createStage(server.url).open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));
    const grants = await grantsOf(frontier, { max: 1 });

    await withRedis(server.port, (redis) => redis.flushall());

    const errors = [
      await errorOf(frontier.lease(aRequest())),
      await errorOf(frontier.enqueue("job", [aTask("https://a.test/")])),
    ];
    for (const error of errors) {
      expect(error.code).toBe("BROKER_UNREACHABLE");
      expect(error.message).toMatch(/emptied under a running Trawl; restart what runs on it/);
      expect(error.message).not.toMatch(/user_script/);
    }
    expect(await frontier.extend(grants, 1000)).toEqual([false]);
    expect(await frontier.findJob("job")).toBeUndefined();
  });
});
