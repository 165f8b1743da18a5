/**
 * A server is killed during a submission, on a real Redis, and the client sends the same request with the same key to
 * another server. The result is one job with every URL once. The server is killed before each packet that it sends to
 * the broker, and in a second series after the reply to each packet.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type CountingProxy, openCountingProxy } from "../api/counting-proxy.ts";
import { type RunningCli, startTrawl } from "../e2e/cli.ts";
import { newFolder } from "../e2e/folder.ts";
import { createStage } from "../redis/stage.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";

const URLS = Array.from({ length: 1_200 }, (_, nth) => `https://site${nth % 7}.test/${nth}`);
const BODY = { urls: [...URLS, URLS[0], "not a url"] };
const HEADERS = { "content-type": "application/json" };
/** More packets than a submission sends. */
const MAX_STEPS = 40;

describe.skipIf(findRedisObstacle("redis-server") !== undefined)("a server that is killed", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it("at any point of a submission leaves one job with every URL once", async () => {
    const proxy = await openCountingProxy(redis.port);
    const stage = createStage(redis.url);
    const frontier = await stage.open();
    const folder = newFolder();
    const serve = (broker: string) => startServer(folder, { TRAWL_BROKER: broker, TRAWL_BROKER_PREFIX: stage.prefix });
    const steady = await serve(redis.url);
    onTestFinished(() => steady.cli.kill("SIGKILL"));
    const kills: string[] = [];

    for (const when of ["before", "after"] as const) {
      for (let nth = 1; nth <= MAX_STEPS; nth++) {
        const key = `${when} ${nth}`;
        const { isWhole } = await submitAndKill(await serve(proxy.url), proxy, { nth, when, key });
        const { id } = await submit(steady.url, key);

        await expectWhole(frontier, id);
        if (isWhole) break; // the submission ended before that packet
        kills.push(key);
      }
    }

    expect(kills.length).toBeGreaterThan(8); // every submission sends more packets than that
    expect(await frontier.listJobs(500)).toHaveLength(kills.length + 2);
  });
});

type Server = { url: string; cli: RunningCli };
type Frontier = Awaited<ReturnType<ReturnType<typeof createStage>["open"]>>;

async function startServer(cwd: string, env: Record<string, string>): Promise<Server> {
  const cli = startTrawl(["serve", "--port", "0", "--json"], { cwd, env, hangsAfterMs: 240_000 });
  await cli.prints(/"url"/);
  return { url: JSON.parse(cli.output().stdout).url, cli };
}

async function submitAndKill(
  { url, cli }: Server,
  proxy: CountingProxy,
  { nth, when, key }: { nth: number; when: "before" | "after"; key: string },
): Promise<{ isWhole: boolean }> {
  proxy.at(nth, when, () => cli.kill("SIGKILL"));
  const answer = await submit(url, key).catch(() => undefined); // the server was killed
  cli.kill("SIGKILL");
  await cli.ended;
  return { isWhole: answer !== undefined };
}

async function submit(url: string, key: string): Promise<{ id: string }> {
  const headers = { ...HEADERS, "idempotency-key": key };
  const answer = await fetch(`${url}/v1/jobs`, { method: "POST", headers, body: JSON.stringify(BODY) });
  const result = await answer.json();
  expect(result).toMatchObject({ accepted: URLS.length, duplicates: 1, refusedCount: 1 });
  return result as { id: string };
}

async function expectWhole(frontier: Frontier, id: string): Promise<void> {
  const job = await frontier.findJob(id);
  expect(job).toMatchObject({ sealed: true, counts: { queued: URLS.length, leased: 0, done: 0 } });
}
