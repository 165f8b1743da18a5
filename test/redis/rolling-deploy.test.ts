/** Two versions of Trawl on one broker, as in a rolling deploy (F19): the scripts differ, the stored data does not. */
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadScripts as loadOwnScripts, type loadScripts } from "../../src/frontier/redis/connection/scripts.ts";
import type { openRedisFrontier } from "../../src/frontier/redis/open.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createLog } from "../../src/runtime/log.ts";
import { aJob, aTask, countsOf, grantsOf, settleAll, submit, tasksAt } from "../contracts/frontier/makers.ts";
import { auditShard } from "../model/redis-audit.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-talk.ts";
import { createStage } from "./stage.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

type OtherVersion = { openRedisFrontier: typeof openRedisFrontier; loadScripts: typeof loadScripts };

describe("two versions side by side", () => {
  let server: RedisServer;
  let folder = "";
  let other: OtherVersion;
  beforeAll(async () => {
    server = await startRedis();
    folder = mkdtempSync(join(tmpdir(), "trawl-other-version-"));
    cpSync(join(ROOT, "src"), join(folder, "src"), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const lua = join(folder, "src/frontier/redis/lua");
    // Every script includes it.
    appendFileSync(join(lua, "lib/base.lua"), "\nlocal _another_version = 2\n");
    const [opening, scripts] = await Promise.all([
      import(join(folder, "src/frontier/redis/open.ts")),
      import(join(folder, "src/frontier/redis/connection/scripts.ts")),
    ]);
    other = { openRedisFrontier: opening.openRedisFrontier, loadScripts: scripts.loadScripts };
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("F19 work on the same jobs, each with its own scripts", async () => {
    const shas = (scripts: ReturnType<typeof loadScripts>) => new Set([...scripts.values()].map(({ sha }) => sha));
    const [mine, theirs] = [shas(loadOwnScripts()), shas(other.loadScripts())];
    expect([...theirs].filter((sha) => mine.has(sha))).toEqual([]);

    const stage = createStage(server.url);
    const old = await stage.open();
    const log = createLog("silent", () => {});
    const options = { prefix: stage.prefix, shards: 1, maxPending: 1e6, patienceMs: 5000, pollMs: 60_000 };
    const young = await other.openRedisFrontier(
      server.url,
      { clock: systemClock(), log },
      { ...options, time: "broker" },
    );
    await submit(old, aJob(), tasksAt("a.test", 10));
    expect((await young.enqueue("job", tasksAt("a.test", 12))).duplicates).toBe(10);
    const [some, rest] = [await grantsOf(young, { max: 6 }), await grantsOf(old)];
    // One version settles what the other was granted.
    await settleAll(old, some, { discovered: [aTask("https://b.test/")] });
    await settleAll(young, rest);
    await old.pause("job");
    expect(await grantsOf(young)).toEqual([]);
    await young.resume("job");
    await settleAll(young, await grantsOf(young));
    expect(await young.seal("job")).toBe(true);

    expect(await countsOf(old)).toEqual({ submitted: 22, discovered: 6, done: 13, duplicate: 15 });
    expect(await auditShard(server.port, `${stage.prefix}:{0}`)).toEqual([]);
    await young.close();
  });

  it("F19 know whether a job of an older version is running", async () => {
    const stage = createStage(server.url);
    const frontier = await stage.open();
    const open = `${stage.prefix}:{0}:open`;
    const idsOf = async (limit: number) => (await frontier.listOpen(limit)).map(({ id }) => id);
    for (const id of ["ended", "runs"]) await frontier.createJob(aJob({ id }));
    await withRedis(server.port, async (redis) => {
      const [first, ...others] = await redis.zrangeBuffer(open, 0, -1);
      expect(others).toHaveLength(1);
      await frontier.seal("ended");
      // Like an older version, which does not have this key.
      await redis.del(open);
      await redis.zadd(open, Number.MAX_SAFE_INTEGER, first as Buffer);
    });

    expect(await idsOf(1)).toEqual([]);
    await frontier.reap(10);

    expect(await idsOf(1)).toEqual(["runs"]);
    expect(await withRedis(server.port, (redis) => redis.zcard(open))).toBe(1);
  });
});
