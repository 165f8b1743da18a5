/** Findings of doctor on a Redis with bad settings. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createShards } from "../../src/frontier/redis/cluster/shards.ts";
import { openBrokerClient } from "../../src/frontier/redis/connection/broker-client.ts";
import { callerClock } from "../../src/frontier/redis/connection/broker-clock.ts";
import { parseRedisUrl } from "../../src/frontier/redis/connection/connection-url.ts";
import { loadScripts } from "../../src/frontier/redis/connection/scripts.ts";
import { withSafetyChecks } from "../../src/frontier/redis/health/refuse-unsafe.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";
import { aJob, aRequest } from "../contracts/frontier/makers.ts";
import { lastJson, trawl } from "../e2e/cli.ts";
import type { Diagnosis } from "../e2e/fleet/fleet.ts";
import { newFolder } from "../e2e/folder.ts";
import { createStage } from "../redis/stage.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`doctor on Redis (${obstacle ?? "available"})`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ appendonly: "everysec" });
  });
  afterAll(() => server.stop());

  const call = (...args: string[]) => withRedis(server.port, (redis) => redis.call(...(args as [string, ...string[]])));
  /** Changes a setting of the server until the end of the test. */
  async function set(name: string, value: string): Promise<void> {
    const [, before = ""] = (await call("CONFIG", "GET", name)) as string[];
    await call("CONFIG", "SET", name, value);
    onTestFinished(async () => {
      await call("CONFIG", "SET", name, before);
    });
  }
  async function diagnose(database: number, env: Record<string, string> = {}) {
    const at = { TRAWL_BROKER: `${server.url}/${database}`, TRAWL_BROKER_RETRY_FOR: "500ms", ...env };
    const end = await trawl(["doctor", "--json"], { cwd: newFolder(), env: at });
    const { findings } = lastJson<Diagnosis>(end);
    return { code: end.code, problems: findings.filter(({ verdict }) => verdict !== "ok"), output: end.stdout };
  }

  it("finds nothing on a good server", async () => {
    expect(await diagnose(1)).toMatchObject({ code: 0, problems: [] });
  });

  it("warns of settings that are slow, need more memory or lose writes", async () => {
    await set("set-max-intset-entries", "64");
    await set("appendonly", "no");

    const { code, problems } = await diagnose(1);

    expect(code).toBe(0);
    expect(problems).toMatchObject([
      { check: "broker persistence", verdict: "warning", fix: expect.stringContaining("appendonly yes") },
      { check: "broker packing", verdict: "warning", fix: expect.stringContaining("512") },
    ]);
  });

  it("reports a Redis that evicts keys as a problem", async () => {
    await set("maxmemory-policy", "allkeys-lru");

    const { code, problems } = await diagnose(1);

    expect(code).toBe(1);
    expect(problems).toMatchObject([
      { check: "broker eviction", verdict: "problem", fix: expect.stringContaining("noeviction") },
    ]);
  });

  it("reports other users of the database", async () => {
    await withRedis(server.port, async (redis) => {
      await redis.select(2);
      await redis.set("sessions:7", "x");
    });
    expect((await diagnose(2)).problems).toMatchObject([
      { check: "broker database", verdict: "warning", message: expect.stringContaining("sessions:7") },
    ]);
    await diagnose(3, { TRAWL_BROKER_PREFIX: "staging" });
    expect((await diagnose(3)).problems).toMatchObject([
      { check: "broker database", verdict: "warning", message: expect.stringContaining("the prefix staging") },
    ]);
  });

  it("reports why it gets no answer, without passwords", async () => {
    await call("ACL", "SETUSER", "fleet", "on", ">s3cret", "~*", "&*", "+@all");
    const wrong = `redis://fleet:wr0ng@127.0.0.1:${server.port}`;

    const refused = await diagnose(1, { TRAWL_BROKER: wrong });
    const missing = await diagnose(1, { TRAWL_BROKER: "redis://fleet:wr0ng@127.0.0.1:1" });

    expect(refused).toMatchObject({ code: 1, problems: [{ message: expect.stringContaining("WRONGPASS") }] });
    expect(missing).toMatchObject({ code: 1, problems: [{ message: expect.stringContaining("not been reached") }] });
    expect(refused.output + missing.output).not.toContain("wr0ng");
  });

  describe("work on a Redis that evicts keys", () => {
    async function aFrontier() {
      const stage = createStage(server.url);
      const [clock, log] = [systemClock(), createLog("silent", () => {})];
      const deps = { clock, log, timeOf: callerClock, scripts: loadScripts() };
      const broker = openBrokerClient(parseRedisUrl(server.url), deps, { retryForMs: 5_000 });
      onTestFinished(() => broker.close());
      const shards = createShards(
        { broker, clock, timeOf: callerClock, caller: "doctor" },
        { prefix: stage.prefix, shards: 1, time: "broker" },
      );
      return withSafetyChecks(await stage.open(), { shards, log, redacted: broker.redacted });
    }

    it("is refused until the setting is fixed, and jobs can still be listed", async () => {
      const frontier = await aFrontier();
      await call("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
      const refusal = { code: "BROKER_UNSAFE", message: expect.stringMatching(/volatile-lru.*noeviction/) };

      await expect(frontier.createJob(aJob())).rejects.toMatchObject(refusal);
      await expect(frontier.lease(aRequest())).rejects.toMatchObject(refusal);
      expect(await frontier.listJobs(1)).toEqual([]);

      await call("CONFIG", "SET", "maxmemory-policy", "noeviction");
      await frontier.createJob(aJob());
      expect(await frontier.listJobs(1)).toHaveLength(1);
    });
  });
});
