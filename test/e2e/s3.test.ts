import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findS3Obstacle, type S3Server, startS3 } from "../services/s3.ts";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { originOf } from "./sites.ts";

const obstacle = findS3Obstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: crawls with bodies on S3: ${obstacle}`);

describe.skipIf(obstacle !== undefined)("an S3 bucket for bodies", () => {
  let server: S3Server;

  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.stop());

  it("stores pages, and passes them from fetch workers to parse workers without a shared folder", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": "<h1>home</h1>", "/a": "<h1>a</h1>" })];
    const prefix = randomUUID();
    const env = {
      ...settingsOf(server),
      TRAWL_BODIES: `s3://${server.bucket}/${prefix}`,
      TRAWL_ALLOW_PRIVATE: "127.0.0.0/8",
    };
    const flags = ["--parse", "queue", "--keep-bodies", "--ignore-robots", "-e", "title=h1", "--json"];
    const submitted = await trawl(["submit", `${site.url}/`, `${site.url}/a`, ...flags], { cwd, env });
    const { id } = lastJson<{ id: string }>(submitted);

    await trawl(["worker", "--drain", "--queues", "fetch"], { cwd, env });
    expect((await keysIn(server, prefix)).filter((key) => key.startsWith("spool/"))).toHaveLength(2);
    const parsed = await trawl(["worker", "--drain", "--queues", "parse"], { cwd, env });

    expect(parsed).toMatchObject({ code: 0 });
    const records = await trawl(["records", id], { cwd, env });
    expect(
      jsonLines<{ title: string }>(records.stdout)
        .map(({ title }) => title)
        .sort(),
    ).toEqual(["a", "home"]);
    const keys = await keysIn(server, prefix);
    expect(keys).toHaveLength(2);
    expect(keys.filter((key) => !/^[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}\.gz$/.test(key))).toEqual([]);
    expect(existsSync(join(cwd, ".trawl/bodies"))).toBe(false);
  });

  it("with a wrong secret makes crawl exit with 3, is reported by doctor, and no output shows the secret", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": "<h1>home</h1>" })];
    const wrong = { ...settingsOf(server), TRAWL_S3_SECRET_KEY: "not-the-secret", TRAWL_LOG_LEVEL: "debug" };
    const env = { ...wrong, TRAWL_BODIES: `s3://${server.bucket}/${randomUUID()}` };

    const crawl = await trawl(["crawl", `${site.url}/`, "--keep-bodies", "--ignore-robots"], { cwd, env });
    const doctor = await trawl(["doctor"], { cwd, env });

    expect(crawl.code).toBe(3);
    expect(crawl.stderr).toMatch(
      /STORE_UNREACHABLE: body s3:.* SignatureDoesNotMatch \(403\); check TRAWL_S3_ACCESS_KEY/,
    );
    expect(doctor.stdout).toMatch(/SignatureDoesNotMatch/);
    expect([crawl, doctor].map(({ stdout, stderr }) => stdout + stderr).join("")).not.toContain("not-the-secret");
    const right = { ...env, ...settingsOf(server) };
    expect((await trawl(["doctor"], { cwd, env: right })).stdout).toMatch(
      /bodies\s+objects in s3:\S+ can be read,\s+written\s+and\s+removed/,
    );
  });

  it("needs keys, and missing keys are reported before anything is queued", async () => {
    const end = await trawl(["crawl", "http://127.0.0.1:9/"], {
      cwd: newFolder(),
      env: { TRAWL_BODIES: "s3://bucket/x" },
    });

    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(
      /BAD_CONFIG: TRAWL_S3_ACCESS_KEY is empty, but bodies are stored in s3:\/\/bucket; set /,
    );
  });
});

function settingsOf({ endpoint, region, accessKey, secretKey }: S3Server) {
  return {
    TRAWL_S3_ENDPOINT: endpoint,
    TRAWL_S3_REGION: region,
    TRAWL_S3_ACCESS_KEY: accessKey,
    TRAWL_S3_SECRET_KEY: secretKey,
  };
}

async function keysIn(server: S3Server, prefix: string): Promise<string[]> {
  const answer = await server.fetch("GET", `${server.bucket}?list-type=2&prefix=${prefix}/`);
  return [...(await answer.text()).matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = ""]) =>
    key.slice(prefix.length + 1),
  );
}
