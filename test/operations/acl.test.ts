/** The user that docs/operations.md makes: it can do all that Trawl does, and nothing that Trawl does not. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { RIGHTS } from "../../src/frontier/redis/rights.ts";
import { newPrefix } from "../contracts/frontier/redis-backend.ts";
import { createStage, type Stage } from "../redis/stage.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { startCluster } from "../services/redis-cluster.ts";
import { withRedis } from "../services/redis-talk.ts";
import { runWholeJob } from "./whole-job.ts";

const PAGE = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
const BACKEND = new URL("../../src/frontier/redis/", import.meta.url);
/** What the client library says of its own accord: on connecting, and to find its way in a cluster. */
const CLIENT = ["scan", "eval", "evalsha", "subscribe", "info", "select", "cluster|slots", "cluster|info"];
/** For the doctor. */
const OPTIONAL = ["config|get"];
/** Words of the source that are commands as well: a part of another one, and the beginning of an error. */
const NOT_SENT = ["config", "readonly"];
const [line = ""] = /^ACL SETUSER trawl .*$/m.exec(PAGE) ?? [];
const [, PASSWORD] = / >(\S+)/.exec(line) ?? [];
const granted = [...line.matchAll(/ \+(\S+)/g)].map(([, name = ""]) => name);

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`rights on a broker (${obstacle ?? "there is a Redis"})`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  /** A handle of the user of the page, less some rights; keys begin with the prefix of the page, and are a test's own. */
  async function stageAs(name: string, ...rights: string[]): Promise<Stage> {
    await makeUser(server.port, name, rights);
    return createStage(`redis://${name}:${PASSWORD}@127.0.0.1:${server.port}`, { prefix: `trawl:${newPrefix()}` });
  }

  it("are enough for a whole job, and everything people do with one", async () => {
    await runWholeJob(await (await stageAs("trawl")).open());
  });

  it("are enough on a cluster", async () => {
    const cluster = await startCluster({ nodes: 3 });
    onTestFinished(() => cluster.stop());
    for (const { port } of cluster.nodes) await makeUser(port, "trawl");
    const url = cluster.url.replace("://", `://trawl:${PASSWORD}@`);

    await runWholeJob(await createStage(url, { prefix: "trawl", shards: 4 }).open());
  });

  it("are those that the scripts and the client need, and no others", async () => {
    const known = new Set((await withRedis(server.port, (redis) => redis.call("COMMAND", "LIST"))) as string[]);
    const folders = ["", "lua/", "lua/lib/"];
    const files = folders.flatMap((folder) => readdirSync(new URL(folder, BACKEND)).map((name) => folder + name));
    const words = files
      .filter((name) => /\.(lua|ts)$/.test(name))
      .flatMap((name) => [...readFileSync(new URL(name, BACKEND), "utf8").matchAll(/"([A-Z]{3,})"/g)])
      .map(([, word = ""]) => word.toLowerCase());
    const needed = words.filter((word) => known.has(word) && !NOT_SENT.includes(word));

    const all = [...new Set([...needed, ...CLIENT, ...OPTIONAL])].sort();
    expect(granted.sort()).toEqual(all);
    expect([...RIGHTS].sort()).toEqual(all.filter((name) => ![...CLIENT, ...OPTIONAL].includes(name)));
  });

  it("reach no key and no channel but those of the prefix", async () => {
    const stage = await stageAs("trawl");

    await expect(stage.open({ prefix: "other" })).rejects.toMatchObject({
      code: "BROKER_UNREACHABLE",
      message: expect.stringMatching(/refuses us: .*docs\/operations\.md/),
    });
  });

  it.each(["eval", "evalsha", "subscribe"])("are named where one is missing: %s", async (right) => {
    const stage = await stageAs(`no-${right}`, `-${right}`);
    const work = async () => runWholeJob(await stage.open());

    await expect(work()).rejects.toMatchObject({
      code: "BROKER_UNREACHABLE",
      message: expect.stringContaining(`'${right}'`),
    });
  });

  it.each(["time", "hget", "info"])("are named where the very first script needs one: %s", async (right) => {
    const stage = await stageAs(`no-${right}`, `-${right}`);

    await expect(stage.open()).rejects.toMatchObject({
      code: "BROKER_UNREACHABLE",
      message: expect.stringContaining(`does not let this user run ${right};`),
    });
  });

  it("are named before a script could do half of what it does", async () => {
    const frontier = await (await stageAs("no-sets", "-zadd", "-sadd")).open();

    expect(await frontier.examine()).toContainEqual({
      check: "broker rights",
      verdict: "problem",
      says: "this user may not run sadd, zadd",
      fix: expect.stringContaining("docs/operations.md"),
    });
  });

  it("to look at settings may be missing: the doctor says less", async () => {
    const stage = await stageAs("blind", "-config|get", "-scan");

    const findings = await (await stage.open()).examine();

    const says = Object.fromEntries(findings.map((finding) => [finding.check, finding.says]));
    expect(says["broker packing"]).toContain("does not show it to us");
    expect(says["broker database"]).toContain("rights");
  });

  it("are no rights at all with a wrong password", async () => {
    const stage = await stageAs("trawl");
    const open = stage.open({ url: `redis://trawl:wr0ng@127.0.0.1:${server.port}`, patienceMs: 500 });

    await expect(open).rejects.toMatchObject({
      code: "BROKER_UNREACHABLE",
      message: expect.not.stringContaining("wr0ng"),
    });
  });
});

async function makeUser(port: number, name: string, rights: readonly string[] = []): Promise<void> {
  const [command = "", ...words] = line.replace("SETUSER trawl", `SETUSER ${name}`).split(" ");
  await withRedis(port, (redis) => redis.call(command, ...words, ...rights));
}
