/** A Redis that is unreachable, slow, emptied, or refuses access. */
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { TrawlError } from "../../src/errors.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { aJob, aRequest, aTask, countsOf, grantsOf, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { createStage } from "./stage.ts";

const clock = systemClock();
const SECRET = "s3cr3t-of-the-broker";

async function errorOf(call: Promise<unknown>): Promise<TrawlError> {
  const error = await call.then(
    () => new Error("the call succeeded"),
    (cause: unknown) => cause,
  );
  if (!(error instanceof TrawlError)) throw error;
  return error;
}

async function startWithPassword(password: string): Promise<RedisServer> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  await withRedis(server.port, (redis) => redis.config("SET", "requirepass", password));
  return server;
}

describe("a Redis that cannot be used", () => {
  it("is reported as unreachable after the configured time, with a fix and without the password", async () => {
    const server = await startWithPassword(SECRET);
    const url = `redis://:${SECRET}@127.0.0.1:${server.port}`;
    const stage = createStage(url, { retryForMs: 300 });
    const frontier = await stage.open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));

    await server.kill();
    const startedAt = clock.now();
    const errors = [await errorOf(frontier.lease(aRequest())), await errorOf(stage.open())];

    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(2 * 300);
    for (const error of errors) {
      expect(error.code).toBe("BROKER_UNREACHABLE");
      expect(error.message).toMatch(/127\.0\.0\.1:\d+ has not been reached for .*TRAWL_BROKER/);
      expect(error.message).toMatch(/nothing listens at/);
      expect(inspect(error, { depth: 9 })).not.toContain(SECRET);
    }
  });

  it("is reported as accepting connections but not answering if it is suspended", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    process.kill(server.pid, "SIGSTOP");

    const error = await errorOf(createStage(server.url, { retryForMs: 300 }).open());

    expect(error.code).toBe("BROKER_UNREACHABLE");
    expect(error.message).toMatch(/127\.0\.0\.1:\d+ accepts connections but does not answer/);
  });

  it("is reported at once with a wrong password", async () => {
    const server = await startWithPassword("another");
    const urls = [`redis://:${SECRET}@127.0.0.1:${server.port}`, `redis://x:${SECRET}@127.0.0.1:${server.port}`];

    for (const url of [...urls, server.url]) {
      const startedAt = clock.now();
      const error = await errorOf(createStage(url, { retryForMs: 60_000 }).open());
      expect(error.code).toBe("BROKER_UNREACHABLE");
      expect(error.message).toMatch(/denies access: .*(WRONGPASS|NOAUTH)/);
      expect(inspect(error, { depth: 9 })).not.toContain(SECRET);
      expect(clock.now() - startedAt).toBeLessThan(30_000);
    }
  });

  it("is reported at once with the missing permission", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    await withRedis(server.port, (redis) =>
      redis.call("ACL", "SETUSER", "weak", "on", `>${SECRET}`, "~*", "&*", "+@all", "-@scripting"),
    );

    const error = await errorOf(createStage(`redis://weak:${SECRET}@127.0.0.1:${server.port}`).open());

    expect(error).toMatchObject({ code: "BROKER_UNREACHABLE" });
    expect(error.message).toMatch(/denies access: .*NOPERM.*eval/);
    expect(inspect(error, { depth: 9 }).length).toBeLessThan(5000);
  });
});

describe("a Redis with a temporary problem", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it("answers calls when it continues after a pause", async () => {
    const frontier = await createStage(server.url).open();
    await submit(frontier, aJob(), tasksAt("a.test", 10));

    await withRedis(server.port, (redis) => redis.call("CLIENT", "PAUSE", 300, "ALL"));
    const calls = [frontier.lease(aRequest({ max: 3 })), frontier.enqueue("job", tasksAt("b.test", 5))] as const;
    const [{ grants }, { queued }] = await Promise.all(calls);

    expect([grants.length, queued]).toEqual([3, 5]);
    expect(await countsOf(frontier)).toEqual({ submitted: 15, leased: 3, queued: 12 });
  });

  it("F1 grants no task twice and loses none if it is suspended longer than the timeout of a call", async () => {
    const stage = createStage(server.url);
    const frontier = await stage.open();
    await submit(frontier, aJob(), tasksAt("a.test", 10));
    expect(await grantsOf(frontier, { max: 1 })).toHaveLength(1);

    process.kill(server.pid, "SIGSTOP");
    const call = frontier.lease(aRequest({ max: 3 }));
    const isLost = () => stage.events.includes("broker.lost");
    while (!isLost()) await clock.sleep(10);
    process.kill(server.pid, "SIGCONT");

    // The first call, which timed out, is executed as well: its tasks are returned.
    expect((await call).grants).toHaveLength(3);
    expect(await countsOf(frontier)).toEqual({ submitted: 10, leased: 4, queued: 6 });
    expect(await frontier.listHolders()).toEqual([{ worker: "worker", leases: 4 }]);
  });

  it("is reported as emptied if its data disappears", async () => {
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
      expect(error.message).toMatch(/emptied while Trawl was running; restart all Trawl processes/);
      expect(error.message).not.toMatch(/user_script/);
    }
    expect(await frontier.extend(grants, 1000)).toEqual([false]);
    expect(await frontier.findJob("job")).toBeUndefined();
  });
});
