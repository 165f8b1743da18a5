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
import { withRedis } from "../services/redis-client.ts";
import { createStage } from "./stage.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

type OtherVersion = { openRedisFrontier: typeof openRedisFrontier; loadScripts: typeof loadScripts };

describe("two versions on one broker", () => {
  let server: RedisServer;
  let folder = "";
  let other: OtherVersion;
  beforeAll(async () => {
    server = await startRedis();
    folder = mkdtempSync(join(tmpdir(), "trawl-other-version-"));
    cpSync(join(ROOT, "src"), join(folder, "src"), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const lua = join(folder, "src/frontier/redis/lua");
    // Every script includes this file.
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
    const [ownShas, otherShas] = [shas(loadOwnScripts()), shas(other.loadScripts())];
    expect([...otherShas].filter((sha) => ownShas.has(sha))).toEqual([]);

    const stage = createStage(server.url);
    const older = await stage.open();
    const log = createLog("silent", () => {});
    const options = { prefix: stage.prefix, shards: 1, maxPending: 1e6, retryForMs: 5000, pollMs: 60_000 };
    const newer = await other.openRedisFrontier(
      server.url,
      { clock: systemClock(), log },
      { ...options, time: "broker" },
    );
    await submit(older, aJob(), tasksAt("a.test", 10));
    expect((await newer.enqueue("job", tasksAt("a.test", 12))).duplicates).toBe(10);
    const [some, rest] = [await grantsOf(newer, { max: 6 }), await grantsOf(older)];
    // Each version settles tasks that the other was granted.
    await settleAll(older, some, { discovered: [aTask("https://b.test/")] });
    await settleAll(newer, rest);
    await older.pause("job");
    expect(await grantsOf(newer)).toEqual([]);
    await newer.resume("job");
    await settleAll(newer, await grantsOf(newer));
    expect(await newer.seal("job")).toBe(true);

    expect(await countsOf(older)).toEqual({ submitted: 22, discovered: 6, done: 13, duplicate: 15 });
    expect(await auditShard(server.port, `${stage.prefix}:{0}`)).toEqual([]);
    await newer.close();
  });

  it("F19 list a job that an older version created as open only if it runs", async () => {
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
