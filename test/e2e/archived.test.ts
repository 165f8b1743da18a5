/** Commands on an archived or deleted job report its state and do not create the job again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { retentionDeps } from "../../src/compose/retention.ts";
import { archiveEnded } from "../../src/retain/archive-ended.ts";
import { type BothModes, startBothModes } from "./api/both-modes.ts";
import { lastJson } from "./cli.ts";

const URLS = ["https://a.example/1", "https://a.example/2"];
const HEADERS = ["--header", "x-token: s3cret"];
const KEYED = ["--idempotency-key", "once", "--follow", "none", "--json"];
const WEBHOOK = { url: "https://receiver.example/", events: ["job.finished"] };

async function submitted(modes: BothModes, args: readonly string[]): Promise<string> {
  const end = await modes.direct(["submit", ...args, "--json"]);
  expect(end.code, end.stderr).toBe(0);
  return lastJson<{ id: string }>(end).id;
}

async function archive({ trawl }: BothModes, id: string): Promise<void> {
  await trawl.frontier.cancel(id);
  await archiveEnded(retentionDeps(trawl), Number.POSITIVE_INFINITY, new AbortController().signal);
  expect(await trawl.frontier.findJob(id)).toBeUndefined();
}

describe("an archived job", () => {
  it("is not created again by a submission with the same key", async () => {
    const modes = await startBothModes({});
    const args = [...URLS, ...HEADERS, ...KEYED];
    const id = await submitted(modes, args);
    await archive(modes, id);

    const again = await modes.direct(["submit", ...args]);
    const other = await modes.direct(["submit", URLS[0] ?? "", ...KEYED]);

    expect(again.code, again.stderr).toBe(0);
    expect(lastJson(again)).toMatchObject({ id, accepted: 0 });
    expect(again.stderr).toContain("already submitted with this idempotency key");
    expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/^trawl: KEY_REUSED: /m) });
    expect(await modes.trawl.frontier.findJob(id)).toBeUndefined();
  });

  it("is not resumed", async () => {
    const modes = await startBothModes({ "/": "<h1>one</h1>" });
    const id = await submitted(modes, [...URLS, ...HEADERS]);
    await archive(modes, id);
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
    const crawl = await modes.direct(["crawl", `${modes.site.url}/`, "--json"], { env });
    const { id: crawled } = lastJson<{ id: string }>(crawl);
    await archiveEnded(retentionDeps(modes.trawl), Number.POSITIVE_INFINITY, new AbortController().signal);

    const refusals = [
      await modes.direct(["submit", ...URLS, "--resume", id]),
      await modes.direct(["crawl", "--resume", crawled]),
    ];

    for (const end of refusals)
      expect(end).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^trawl: JOB_ARCHIVED: .*submit a new job/m),
      });
    expect(await modes.trawl.frontier.listJobs(10)).toEqual([]);
  });
});

describe("an idempotency key that was used", () => {
  it("does not create its job again after the job was deleted", async () => {
    const modes = await startBothModes({});
    const id = await submitted(modes, [...URLS, ...KEYED]);
    expect(await modes.direct(["delete", id, "--cancel"])).toMatchObject({ code: 0 });

    const again = await modes.direct(["submit", ...URLS, ...KEYED]);

    expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/^trawl: JOB_DELETED: .*a new key/m) });
    expect(await modes.trawl.frontier.findJob(id)).toBeUndefined();
  });

  it("adds no webhook to the job of another tenant", async () => {
    const modes = await startBothModes({});
    const id = await submitted(modes, [...URLS, ...KEYED]);
    writeFileSync(join(modes.cwd, "other.json"), JSON.stringify({ urls: ["https://b.example/"], webhook: WEBHOOK }));

    const other = await modes.direct(["submit", "other.json", "--idempotency-key", "once"]);

    expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/^trawl: KEY_REUSED: /m) });
    expect(other.stderr).not.toContain("whsec_");
    expect(await modes.trawl.store.webhooks.find(id)).toBeUndefined();
  });
});
