/** The Redis user of docs/operations.md has all permissions that Trawl needs, and no others. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { REQUIRED_COMMANDS } from "../../src/frontier/redis/health/permissions.ts";
import { newPrefix } from "../contracts/frontier/redis-backend.ts";
import { createStage, type Stage } from "../redis/stage.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { startCluster } from "../services/redis-cluster.ts";
import { runWholeJob } from "./whole-job.ts";

const PAGE = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
const BACKEND = new URL("../../src/frontier/redis/", import.meta.url);
/** Commands that the client library sends by itself: to connect, and to find the nodes of a cluster. */
const CLIENT = ["scan", "eval", "evalsha", "subscribe", "info", "select", "cluster|slots", "cluster|info"];
/** For doctor. */
const OPTIONAL = ["config|get"];
/** Strings in the source that are also names of commands: a part of another command, and the start of an error. */
const NOT_SENT = ["config", "readonly"];
const [line = ""] = /^ACL SETUSER trawl .*$/m.exec(PAGE) ?? [];
const [, PASSWORD] = / >(\S+)/.exec(line) ?? [];
const granted = [...line.matchAll(/ \+(\S+)/g)].map(([, name = ""]) => name);

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`permissions on a broker (${obstacle ?? "available"})`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  /** Opens a handle as the user of the page, without some permissions. Each test has its own keys below the prefix. */
  async function stageAs(name: string, ...changes: string[]): Promise<Stage> {
    await makeUser(server.port, name, changes);
    return createStage(`redis://${name}:${PASSWORD}@127.0.0.1:${server.port}`, { prefix: `trawl:${newPrefix()}` });
  }

  it("are enough for a whole job and all commands", async () => {
    await runWholeJob(await (await stageAs("trawl")).open());
  });

  it("are enough on a cluster", async () => {
    const cluster = await startCluster({ nodes: 3 });
    onTestFinished(() => cluster.stop());
    for (const { port } of cluster.nodes) await makeUser(port, "trawl");
    const url = cluster.url.replace("://", `://trawl:${PASSWORD}@`);

    await runWholeJob(await createStage(url, { prefix: "trawl", shards: 4 }).open());
  });

  it("are exactly those that the scripts and the client need", async () => {
    const known = new Set((await withRedis(server.port, (redis) => redis.call("COMMAND", "LIST"))) as string[]);
    const files = readdirSync(BACKEND, { recursive: true, encoding: "utf8" });
    const names = files
      .filter((name) => /\.(lua|ts)$/.test(name))
      .flatMap((name) => [...readFileSync(new URL(name, BACKEND), "utf8").matchAll(/"([A-Z]{3,})"/g)])
      .map(([, name = ""]) => name.toLowerCase());
    const needed = names.filter((name) => known.has(name) && !NOT_SENT.includes(name));

    const all = [...new Set([...needed, ...CLIENT, ...OPTIONAL])].sort();
    expect(granted.sort()).toEqual(all);
    expect([...REQUIRED_COMMANDS].sort()).toEqual(all.filter((name) => ![...CLIENT, ...OPTIONAL].includes(name)));
  });

  it("cover only keys and channels of the prefix", async () => {
    const stage = await stageAs("trawl");

    await expect(stage.open({ prefix: "other" })).rejects.toMatchObject({
      code: "BROKER_UNREACHABLE",
      message: expect.stringMatching(/denies access: .*docs\/operations\.md/),
    });
  });

  it.each(["eval", "evalsha", "subscribe"])("that are missing are named in the error: %s", async (command) => {
    const stage = await stageAs(`no-${command}`, `-${command}`);
    const work = async () => runWholeJob(await stage.open());

    await expect(work()).rejects.toMatchObject({
      code: "BROKER_UNREACHABLE",
      message: expect.stringContaining(`'${command}'`),
    });
  });

  it.each(["time", "hget", "info"])("that are missing for the first script are named, too: %s", async (command) => {
    const stage = await stageAs(`no-${command}`, `-${command}`);

    await expect(stage.open()).rejects.toMatchObject({
      code: "BROKER_UNREACHABLE",
      message: expect.stringContaining(`does not let this user run ${command};`),
    });
  });

  it("are checked before a script can run partially", async () => {
    const frontier = await (await stageAs("no-sets", "-zadd", "-sadd")).open();

    expect(await frontier.examine()).toContainEqual({
      check: "broker permissions",
      verdict: "problem",
      message: "this user may not run sadd, zadd",
      fix: expect.stringContaining("docs/operations.md"),
    });
  });

  it("to read settings are optional: doctor reports less", async () => {
    const stage = await stageAs("blind", "-config|get", "-scan");

    const findings = await (await stage.open()).examine();

    const messages = Object.fromEntries(findings.map((finding) => [finding.check, finding.message]));
    expect(messages["broker packing"]).toContain("the server does not report it");
    expect(messages["broker database"]).toContain("permissions");
  });

  it("are not granted with a wrong password", async () => {
    const stage = await stageAs("trawl");
    const open = stage.open({ url: `redis://trawl:wr0ng@127.0.0.1:${server.port}`, retryForMs: 500 });

    await expect(open).rejects.toMatchObject({
      code: "BROKER_UNREACHABLE",
      message: expect.not.stringContaining("wr0ng"),
    });
  });
});

async function makeUser(port: number, name: string, changes: readonly string[] = []): Promise<void> {
  const [command = "", ...args] = line.replace("SETUSER trawl", `SETUSER ${name}`).split(" ");
  await withRedis(port, (redis) => redis.call(command, ...args, ...changes));
}
