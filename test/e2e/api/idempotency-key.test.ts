/** An idempotency key identifies one job, in whatever way the job is first submitted and then submitted again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../src/client/client.ts";
import { type CliEnd, lastJson } from "../cli.ts";
import { ensureDist } from "../dist.ts";
import { type BothModes, startBothModes } from "./both-modes.ts";

beforeAll(ensureDist, 240_000);

const JOB = {
  name: "shop",
  urls: ["https://a.example/1", "https://b.example/2"],
  follow: { maxDepth: 2 },
  extract: { title: "h1" },
  headers: { "X-Token": "s3cret" },
  priority: 3,
};
const OTHER_JOB = { ...JOB, extract: { title: "h2" } };

type Submitted = { id: string } | { code: string };
/** Submits the job with the key. `settings` are the settings of the command; ways without a command ignore them. */
type Way = (modes: BothModes, job: object, key: string, settings: Record<string, string>) => Promise<Submitted>;

const WAYS: Record<string, Way> = {
  "trawl submit": async (modes, job, key, settings) =>
    idIn(await modes.direct(["submit", fileOf(modes, job), "--idempotency-key", key, "--json"], { env: settings })),
  "trawl submit --api": async (modes, job, key, settings) =>
    idIn(await modes.remote(["submit", fileOf(modes, job), "--idempotency-key", key, "--json"], { env: settings })),
  "POST /v1/jobs": async ({ request }, job, key) => {
    const { json } = await request("POST", "/v1/jobs", job, { "idempotency-key": key });
    return json as unknown as Submitted;
  },
  "the client library": async ({ url }, job, key) => {
    try {
      return { id: (await connect(url).submit(job, { idempotencyKey: key })).id };
    } catch (error) {
      return { code: (error as { code: string }).code };
    }
  },
};
const NAMES = Object.keys(WAYS);
const PAIRS = NAMES.flatMap((first) => NAMES.map((second) => [first, second] as const));

describe("an idempotency key", () => {
  it("finds the job that was submitted in any other way, even after settings have changed", {
    timeout: 240_000,
  }, async () => {
    const modes = await startBothModes({});
    const submit = (name: string, job: object, key: string, settings = {}) => {
      const way = WAYS[name];
      if (way === undefined) throw new Error(`unknown way to submit: ${name}`);
      return way(modes, job, key, settings);
    };
    const results = new Map<string, readonly Submitted[]>();
    for (const [first, second] of PAIRS) {
      const key = `${first}, then ${second}`;
      const made = await submit(first, JOB, key);
      const repeated = await submit(second, JOB, key, { TRAWL_RATE: "7/s", TRAWL_RETRIES: "9" });
      const other = await submit(second, OTHER_JOB, key);
      results.set(key, [made, repeated, other]);
    }

    for (const [key, [made, repeated, other]] of results) {
      expect(made, key).toHaveProperty("id");
      expect(repeated, key).toEqual({ ...repeated, id: (made as { id: string }).id });
      expect(other, key).toMatchObject({ code: "KEY_REUSED" });
    }
    expect(await modes.trawl.frontier.listJobs(100)).toHaveLength(PAIRS.length);
  });

  it("finds the job of a list that is longer than one request, and of a plain list", { timeout: 120_000 }, async () => {
    const modes = await startBothModes({});
    const urls = Array.from({ length: 6_000 }, (_, nth) => `https://a${nth % 50}.example/${nth}`);
    writeFileSync(join(modes.cwd, "urls.txt"), ["not a URL", ...urls].join("\n"));
    const args = ["submit", "urls.txt", "--idempotency-key", "list", "--json"];

    const direct = lastJson<Record<string, unknown>>(await modes.direct(args));
    const remote = lastJson(await modes.remote(args));
    const library = await connect(modes.url).submit(
      { urls: ["not a URL", ...urls], follow: {} },
      { idempotencyKey: "list" },
    );
    const whole = await modes.request("POST", "/v1/jobs", { urls, follow: {} }, { "idempotency-key": "list" });
    const inParts = lastJson(await modes.remote(["submit", "urls.txt", "--idempotency-key", "parts", "--json"]));

    expect(direct).toMatchObject({ accepted: 6_000, refused: [{ index: 0, url: "not a URL" }] });
    expect(remote).toMatchObject({ id: direct.id, known: true });
    expect(library).toMatchObject({ id: direct.id });
    // The first 1,000 URLs of this request differ, because the invalid line is missing.
    expect(whole.json).toMatchObject({ code: "KEY_REUSED" });
    expect(inParts).toMatchObject({ accepted: 6_000, duplicates: 0, refused: [{ index: 0, url: "not a URL" }] });
  });
});

function fileOf({ cwd }: BothModes, job: object): string {
  writeFileSync(join(cwd, "job.json"), JSON.stringify(job));
  return "job.json";
}

function idIn(end: CliEnd): Submitted {
  if (end.code === 0) return { id: lastJson<{ id: string }>(end).id };
  return { code: /^trawl: ([A-Z_]+):/m.exec(end.stderr)?.[1] ?? end.stderr };
}
