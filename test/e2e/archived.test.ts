/** Commands on archived or deleted jobs report that, and create no such job again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { retentionDeps } from "../../src/compose/retention.ts";
import { archiveEnded } from "../../src/retain/archive-ended.ts";
import { startTwinWays, type TwinWays } from "./api/twin-ways.ts";
import { lastJson } from "./cli.ts";

const URLS = ["https://a.example/1", "https://a.example/2"];
const HEADERS = ["--header", "x-token: s3cret"];
const KEYED = ["--idempotency-key", "once", "--follow", "none", "--json"];
const WEBHOOK = { url: "https://receiver.example/", events: ["job.finished"] };

async function submitted(way: TwinWays, words: readonly string[]): Promise<string> {
  const end = await way.direct(["submit", ...words, "--json"]);
  expect(end.code, end.stderr).toBe(0);
  return lastJson<{ id: string }>(end).id;
}

async function archive({ trawl }: TwinWays, id: string): Promise<void> {
  await trawl.frontier.cancel(id);
  await archiveEnded(retentionDeps(trawl), Number.POSITIVE_INFINITY, new AbortController().signal);
  expect(await trawl.frontier.findJob(id)).toBeUndefined();
}

describe("an archived job", () => {
  it("is not created again by a submission with the same key", async () => {
    const way = await startTwinWays({});
    const words = [...URLS, ...HEADERS, ...KEYED];
    const id = await submitted(way, words);
    await archive(way, id);

    const again = await way.direct(["submit", ...words]);
    const other = await way.direct(["submit", URLS[0] ?? "", ...KEYED]);

    expect(again.code, again.stderr).toBe(0);
    expect(lastJson(again)).toMatchObject({ id, accepted: 0 });
    expect(again.stderr).toContain("submitted under this key before");
    expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/^trawl: KEY_REUSED: /m) });
    expect(await way.trawl.frontier.findJob(id)).toBeUndefined();
  });

  it("is not resumed", async () => {
    const way = await startTwinWays({ "/": "<h1>one</h1>" });
    const id = await submitted(way, [...URLS, ...HEADERS]);
    await archive(way, id);
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
    const crawl = await way.direct(["crawl", `${way.site.url}/`, "--json"], { env });
    const { id: crawled } = lastJson<{ id: string }>(crawl);
    await archiveEnded(retentionDeps(way.trawl), Number.POSITIVE_INFINITY, new AbortController().signal);

    const refusals = [
      await way.direct(["submit", ...URLS, "--resume", id]),
      await way.direct(["crawl", "--resume", crawled]),
    ];

    for (const end of refusals)
      expect(end).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^trawl: JOB_ARCHIVED: .*submit a new job/m),
      });
    expect(await way.trawl.frontier.listJobs(10)).toEqual([]);
  });
});

describe("an idempotency key that was used", () => {
  it("creates no hidden job after its job was deleted", async () => {
    const way = await startTwinWays({});
    const id = await submitted(way, [...URLS, ...KEYED]);
    expect(await way.direct(["delete", id, "--cancel"])).toMatchObject({ code: 0 });

    const again = await way.direct(["submit", ...URLS, ...KEYED]);

    expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/^trawl: JOB_DELETED: .*a new key/m) });
    expect(await way.trawl.frontier.findJob(id)).toBeUndefined();
  });

  it("adds no webhook to the job of another tenant", async () => {
    const way = await startTwinWays({});
    const id = await submitted(way, [...URLS, ...KEYED]);
    writeFileSync(join(way.cwd, "other.json"), JSON.stringify({ urls: ["https://b.example/"], webhook: WEBHOOK }));

    const other = await way.direct(["submit", "other.json", "--idempotency-key", "once"]);

    expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/^trawl: KEY_REUSED: /m) });
    expect(other.stderr).not.toContain("whsec_");
    expect(await way.trawl.store.webhooks.find(id)).toBeUndefined();
  });
});
