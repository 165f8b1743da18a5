/**
 * Tests webhooks on the command line: delivery before a crawl ends, the output of `job`, and delivery after kill -9 of
 * workers.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { waitUntil } from "../services/wait-until.ts";
import { type Answering, type Receiver, startReceiver } from "../webhook/receiver.ts";
import { type CliEnd, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { originOf } from "./sites.ts";

const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
const ENV = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_WEBHOOK_BACKOFF: "100ms", TRAWL_RATE: "unlimited" };

async function receiverOf(answer?: Answering): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** A folder with a job.json. */
async function folderWith(receiver: Receiver, webhook: object = {}, pages = 3, slowMs = 0) {
  const site = await originOf((request, response) => {
    const answer = () => response.setHeader("content-type", "text/html").end(`<h1>${request.url}</h1>`);
    if (slowMs === 0) answer();
    else setTimeout(answer, slowMs);
  });
  const folder = newFolder();
  const urls = Array.from({ length: pages }, (_, nth) => `${site.url}/${nth}`);
  const events = ["job.finished", "records"];
  const politeness = { robots: false, perSite: 2 };
  const job = { urls, politeness, extract: { title: "h1" }, webhook: { url: receiver.url, events, ...webhook } };
  writeFileSync(join(folder, "job.json"), JSON.stringify(job));
  return { folder, urls };
}

function lastJson({ stdout }: CliEnd): Record<string, unknown> {
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

describe("a crawl with a webhook", () => {
  it("has delivered every event when it ends, with a secret that it prints once", async () => {
    const receiver = await receiverOf();
    const { folder, urls } = await folderWith(receiver);

    const end = await trawl(["crawl", "job.json", "--json"], { cwd: folder, env: ENV });

    expect(end).toMatchObject({ code: 0 });
    const secret = /webhook secret \(shown only once\): (whsec_\S+)/.exec(end.stderr)?.[1] ?? "";
    expect(receiver.received.map((event) => receiver.problemOf(event, secret))).toEqual([undefined, undefined]);
    expect(deliveredUrls(receiver)).toEqual(urls);
    const { id } = lastJson(end);
    const shown = await trawl(["job", String(id)], { cwd: folder });
    expect(shown.stdout).toMatch(/\nwebhook\n {2}to 127\.0\.0\.1:\d+ +2 delivered, 0 waiting, 0 failed\n/);
    expect(shown.stdout + shown.stderr).not.toContain(secret);
    expect(lastJson(await trawl(["jobs", "--json"], { cwd: folder }))).toMatchObject({ jobs: [{ id }] });
  });

  it("reports undelivered events, and how to deliver them", async () => {
    let isBroken = true;
    const receiver = await receiverOf((response) => response.writeHead(isBroken ? 500 : 200).end());
    const { folder } = await folderWith(receiver, { secret: SECRET, events: ["job.finished"] });

    const env = { ...ENV, TRAWL_WEBHOOK_DRAIN: "1s" };
    const end = await trawl(["crawl", "job.json", "--json"], { cwd: folder, env });
    expect(end).toMatchObject({ code: 0 });
    expect(end.stderr).toMatch(
      /webhook: 1 event not delivered to 127\.0\.0\.1:\d+, 0 delivered: the endpoint answered 500/,
    );
    expect(end.stderr).not.toContain(SECRET);
    const [, command = ""] = /deliver +npx trawl (crawl --resume \S+)/.exec(end.stderr) ?? [];

    isBroken = false;
    const later = await trawl(command.split(" "), { cwd: folder, env: ENV });

    expect(later).toMatchObject({ code: 0, stderr: expect.not.stringContaining("not delivered") });
    expect(new Set(receiver.received.map(({ id, body }) => id + body)).size).toBe(1);
  });
});

describe("a job that is submitted with a webhook", () => {
  it("returns the secret as JSON", async () => {
    const { folder } = await folderWith(await receiverOf());

    const end = await trawl(["submit", "job.json", "--json"], { cwd: folder, env: ENV });

    const { webhookSecret } = lastJson(end);
    expect(webhookSecret).toMatch(/^whsec_\S+$/);
    expect(end.stderr).toContain(`webhook secret (shown only once): ${webhookSecret}`);
  });
});

describe("a fleet without a worker that delivers", () => {
  it("is reported by doctor", async () => {
    const receiver = await receiverOf();
    const { folder } = await folderWith(receiver, { secret: SECRET });
    await trawl(["submit", "job.json"], { cwd: folder, env: ENV });
    await trawl(["worker", "--queues", "fetch", "--drain"], { cwd: folder, env: ENV });

    const { stdout, stderr } = await trawl(["doctor"], { cwd: folder, env: ENV });

    expect(stdout + stderr).toMatch(/queue deliver/);
    expect(stdout + stderr).toMatch(/trawl worker --queues deliver/);
    expect(receiver.received).toEqual([]);
  });
});

describe("workers that are killed", () => {
  let redis: RedisServer | undefined;
  const obstacle = findRedisObstacle("redis-server");
  beforeAll(async () => {
    if (obstacle === undefined) redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it("lose no event, on SQLite", () => deliverThroughKills({}));
  it.skipIf(obstacle !== undefined)("lose no event, on Redis", () =>
    deliverThroughKills({ TRAWL_BROKER: redis?.url ?? "" }),
  );
});

const KILLS = 5;

async function deliverThroughKills(broker: Record<string, string>): Promise<void> {
  const receiver = await receiverOf((response, _, nth) => response.writeHead(nth === 1 ? 500 : 200).end());
  const { folder, urls } = await folderWith(receiver, { secret: SECRET, batch: { records: 4 } }, 60, 20);
  const env = { ...ENV, ...broker, TRAWL_LEASE: "3s" };
  const { id } = lastJson(await trawl(["submit", "job.json", "--json"], { cwd: folder, env }));

  const worker = () => startTrawl(["worker", "--pool", "solo", "-c", "4"], { cwd: folder, env, hangsAfterMs: 150_000 });
  for (let nth = 1; nth <= KILLS; nth += 1) {
    const [running, before] = [worker(), receiver.received.length];
    // Kill the worker during deliveries, each time at another moment.
    await waitUntil(() => receiver.received.length >= before + nth, 10_000, 1);
    running.kill("SIGKILL");
    await running.ended;
  }
  const last = worker();
  await receiver.until((received) => isFullyDelivered(received, urls));
  last.kill("SIGTERM");
  await last.ended;

  const texts = new Map(receiver.received.map((event) => [event.id, event.body]));
  expect(receiver.received.filter((event) => texts.get(event.id) !== event.body)).toEqual([]);
  expect(
    receiver.received.map((event) => receiver.problemOf(event, SECRET)).filter((why) => why !== undefined),
  ).toEqual([]);
  const ends = receiver.received.filter(({ type }) => type === "job.finished");
  expect(new Set(ends.map((event) => event.id)).size).toBe(1);
  expect(ends[0]?.content.data.job).toMatchObject({ id, state: "finished" });
}

function isFullyDelivered(received: Receiver["received"], urls: readonly string[]): boolean {
  const delivered = new Set(deliveredUrls({ received }));
  // The endpoint refuses each event once, and accepts it the second time.
  const ends = received.filter(({ type }) => type === "job.finished");
  return ends.length >= 2 && urls.every((url) => delivered.has(url));
}

function deliveredUrls({ received }: Pick<Receiver, "received">): string[] {
  const records = received.flatMap(({ content }) => (content.data.records ?? []) as { _url: string }[]);
  return records.map(({ _url }) => _url).sort();
}
