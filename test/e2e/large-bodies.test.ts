/** Tests requests with bodies of more than 64 KB, which are stored in TRAWL_BODIES. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { originOf } from "./sites.ts";

const FAST = ["--rate", "unlimited", "--ignore-robots", "--json", "--quiet"];
const MEGABYTE = 1_000_000;

/** A site that records the size and hash of each body. `/repeat` redirects with 307. */
async function uploadSite() {
  const received: string[] = [];
  const origin = await originOf(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push(shown(`${request.method} ${request.url}`, Buffer.concat(chunks).toString()));
    if (request.url === "/repeat") response.writeHead(307, { location: "/end" }).end();
    else response.setHeader("content-type", "text/html").end("<h1>ok</h1>");
  });
  return { ...origin, received };
}

function shown(request: string, body: string): string {
  return `${request} ${Buffer.byteLength(body)} ${hash("sha256", body)}`;
}

/** JSON that gzip cannot make small. */
function bigJson(bytes: number, seed: string): { text: string } {
  let text = "";
  for (let n = 0; text.length < bytes; n++) text += hash("sha256", `${seed}${n}é`, "base64");
  return { text: text.slice(0, bytes) };
}

function storedBodies(cwd: string, jobId: string): string[] {
  const folder = join(cwd, ".trawl/bodies/requests", jobId);
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

async function deadOf(cwd: string): Promise<{ reason: string; detail: string | undefined }[]> {
  const { dead } = lastJson<{ dead: { reason: string; history: { detail: string }[] }[] }>(
    await trawl(["dead", "--list", "--json"], { cwd }),
  );
  return dead.map(({ reason, history }) => ({ reason, detail: history.at(-1)?.detail }));
}

describe("large request bodies", () => {
  it("of a job file, a list and the command line are sent once each, and are removed with the job", async () => {
    const [cwd, site] = [newFolder(), await uploadSite()];
    const [one, two] = [bigJson(MEGABYTE, "one"), bigJson(MEGABYTE, "two")];
    const urls = [
      { url: `${site.url}/a`, json: one },
      { url: `${site.url}/a`, json: two },
      { url: `${site.url}/a`, body: JSON.stringify(one), method: "POST" },
      { url: `${site.url}/b`, json: one },
      { url: `${site.url}/repeat`, method: "PUT", json: two },
    ];
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ urls }));
    writeFileSync(join(cwd, "list.txt"), urls.map((one) => `${JSON.stringify(one)}\n`).join(""));
    writeFileSync(join(cwd, "one.json"), JSON.stringify(one));
    const [first, second] = [JSON.stringify(one), JSON.stringify(two)];
    const expected = [
      ...[shown("POST /a", first), shown("POST /a", second), shown("POST /b", first)],
      ...[shown("PUT /repeat", second), shown("PUT /end", second)],
    ].sort();

    const summary = lastJson<Summary>(await trawl(["crawl", "job.json", ...FAST], { cwd }));

    expect(site.received.sort()).toEqual(expected);
    expectBalanced(summary.counts);
    expect(summary.counts).toMatchObject({ submitted: 5, duplicate: 1, dead: 0 });
    expect(storedBodies(cwd, summary.id)).toEqual([first, second].map((body) => `${hash("sha256", body)}.gz`).sort());
    expect(statSync(join(cwd, ".trawl/broker.db")).size).toBeLessThan(MEGABYTE);
    await trawl(["delete", summary.id], { cwd });
    expect(storedBodies(cwd, summary.id)).toEqual([]);

    site.received.length = 0;
    const ofList = lastJson<Summary>(await trawl(["crawl", "list.txt", "--follow", "none", ...FAST], { cwd }));
    expect(site.received.sort()).toEqual(expected);
    expect(ofList.counts).toMatchObject({ duplicate: 1, dead: 0 });

    site.received.length = 0;
    await trawl(["crawl", `${site.url}/flag`, "-d", "@one.json", ...FAST], { cwd });
    expect(site.received).toEqual([shown("POST /flag", first)]);
  });

  it("of a spider are sent once each", async () => {
    const [cwd, site] = [newFolder(), await uploadSite()];
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "uploads",
        start: ["${site.url}/"],
        politeness: { rate: "unlimited", robots: false },
        async page({ follow, request }) {
          for (const n of [1, 2, 1]) follow("/up", { to: "end", json: "x".repeat(${MEGABYTE}) + n });
          follow("/form", { to: "end", form: { q: "y".repeat(${MEGABYTE}) } });
          await request("/call", { body: "z".repeat(${MEGABYTE}) });
        },
        handlers: { end({ url, emit }) { emit({ url }); } },
      };`,
    );

    const summary = lastJson<Summary>(await trawl(["crawl", "spider.mjs", "--json", "--quiet"], { cwd }));

    expectBalanced(summary.counts);
    expect(summary.counts).toMatchObject({ discovered: 4, duplicate: 1, dead: 0 });
    expect(site.received.sort()).toEqual(
      [
        shown("GET /", ""),
        shown("POST /call", "z".repeat(MEGABYTE)),
        shown("POST /form", `q=${"y".repeat(MEGABYTE)}`),
        shown("POST /up", JSON.stringify(`${"x".repeat(MEGABYTE)}1`)),
        shown("POST /up", JSON.stringify(`${"x".repeat(MEGABYTE)}2`)),
      ].sort(),
    );
    expect(storedBodies(cwd, summary.id)).toHaveLength(3);
  });

  it("are refused above the limit and without a body storage, with the setting to change", async () => {
    const [cwd, site] = [newFolder(), await uploadSite()];
    const request = { url: `${site.url}/a`, json: bigJson(100_000, "a") };
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ urls: [`${site.url}/`, request] }));
    writeFileSync(join(cwd, "list.txt"), `${JSON.stringify(request)}\n${site.url}/\n`);
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "uploads",
        start: ["${site.url}/"],
        politeness: { rate: "unlimited", robots: false },
        page({ follow }) { follow("/up", { body: "x".repeat(100_000) }); },
      };`,
    );
    const none = { TRAWL_BODIES: "none" };
    const small = { TRAWL_REQUEST_BODY_BYTES: "70000" };

    const ofJob = await trawl(["crawl", "job.json", ...FAST], { cwd, env: none });
    const tooLarge = await trawl(["crawl", "job.json", ...FAST], { cwd, env: small });
    const ofList = await trawl(["submit", "list.txt", "--json"], { cwd, env: none });
    await trawl(["crawl", "spider.mjs", "--json", "--quiet"], { cwd, env: none });

    expect([ofJob.code, ofJob.stderr]).toEqual([
      2,
      expect.stringMatching(/BAD_JOB[\s\S]*urls\.1: the body has 100011 bytes[\s\S]*TRAWL_BODIES, which is none; set/),
    ]);
    expect([tooLarge.code, tooLarge.stderr]).toEqual([
      2,
      expect.stringMatching(/more than the limit of 70000; raise TRAWL_REQUEST_BODY_BYTES/),
    ]);
    expect([ofList.code, ofList.stderr]).toEqual([2, expect.stringContaining("which is none; set TRAWL_BODIES")]);
    expect(await deadOf(cwd)).toEqual([
      { reason: "handler_failed", detail: expect.stringMatching(/follow: the body has 100000 bytes.*TRAWL_BODIES/) },
    ]);
    expect(site.received.map((one) => one.split(" ")[1])).toEqual(["/"]);
  });

  it("over HTTP reach the workers, and a worker with another TRAWL_BODIES ends the task as a dead letter", async () => {
    const [cwd, site] = [newFolder(), await uploadSite()];
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
    const server = startTrawl(["serve", "--port", "0"], { cwd });
    onTestFinished(() => server.kill("SIGKILL"));
    await server.prints(/http:\/\/127\.0\.0\.1:\d+/);
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(Object.values(server.output()).join("")) ?? [];
    const [one, two] = [bigJson(MEGABYTE, "one"), bigJson(MEGABYTE, "two")];
    const job = { politeness: { rate: "unlimited", robots: false } };

    const send = (path: string, type: string, body: string) =>
      fetch(`${url}${path}`, { method: "POST", headers: { "content-type": type }, body });
    const created = await send(
      "/v1/jobs",
      "application/json",
      JSON.stringify({ ...job, open: true, urls: [{ url: `${site.url}/json`, json: one }] }),
    );
    const { id } = (await created.json()) as { id: string };
    const line = JSON.stringify({ url: `${site.url}/line`, json: two });
    const added = await send(`/v1/jobs/${id}/urls?last=true`, "application/x-ndjson", `${line}\n${line}`);
    expect([created.status, added.status]).toEqual([202, 202]);
    expect(await added.json()).toMatchObject({ accepted: 1, duplicates: 1 });

    const work = ["worker", "--drain", "--quiet"];
    await trawl(work, { cwd, env: { ...env, TRAWL_BODIES: `file:${join(cwd, "other")}` } });
    const missing = { reason: "body_missing", detail: expect.stringContaining("TRAWL_BODIES") };
    expect([await deadOf(cwd), site.received]).toEqual([[missing, missing], []]);

    await trawl(["dead", "--all", "--replay"], { cwd });
    await trawl(work, { cwd, env });
    expect(site.received.sort()).toEqual(
      [shown("POST /json", JSON.stringify(one)), shown("POST /line", JSON.stringify(two))].sort(),
    );
  });
});
