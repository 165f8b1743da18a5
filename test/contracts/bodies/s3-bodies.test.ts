import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { openS3Bodies } from "../../../src/store/bodies/s3/s3-bodies.ts";
import { createS3Client, type S3ClientOptions } from "../../../src/store/bodies/s3/s3-client.ts";
import { openS3Objects } from "../../../src/store/bodies/s3/s3-objects.ts";
import { openS3Spool } from "../../../src/store/bodies/s3/s3-spool.ts";
import { findS3Obstacle, type S3Server, startS3 } from "../../services/s3.ts";
import { describeBodies } from "./describe-bodies.ts";
import { type MeddlingProxy, startMeddlingProxy } from "./meddling-proxy.ts";

/** The least that servers take. */
const PART_BYTES = 5 * 1024 * 1024;

const obstacle = findS3Obstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: tests on S3: ${obstacle}`);

describe.skipIf(obstacle !== undefined)("on a server that checks signatures,", () => {
  let server: S3Server;

  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.stop());

  describeBodies("S3", async () => {
    const prefix = `${randomUUID()}/`;
    const pathOf = (name: string) => `${server.bucket}/${prefix}${name.split("/").map(encodeURIComponent).join("/")}`;
    return {
      open: async () => openOn(server, { prefix }),
      list: async () =>
        (await keysIn(server)).flatMap((key) => (key.startsWith(prefix) ? key.slice(prefix.length) : [])),
      read: async (name) => Buffer.from(await (await server.fetch("GET", pathOf(name))).arrayBuffer()),
      overwrite: async (name, bytes) => void (await server.fetch("PUT", pathOf(name), bytes)),
      remove: async () => {},
    };
  });

  describe("bodies in a bucket", () => {
    it.each([
      [
        "a wrong secret",
        { secretKey: "wrong" },
        /SignatureDoesNotMatch \(403\); check TRAWL_S3_ACCESS_KEY and TRAWL_S3_SE/,
      ],
      [
        "keys that nobody has",
        { accessKey: "trawl:nobody" },
        /\(403\); check TRAWL_S3_ACCESS_KEY and TRAWL_S3_SECRET_KEY/,
      ],
      [
        "a bucket that is not there",
        { bucket: "no-such" },
        /s3:\/\/no-such\/.*NoSuchBucket \(404\); make the bucket, or/,
      ],
      ["another region", { region: "us-east-1" }, /AuthorizationHeaderMalformed \(400\); set TRAWL_S3_REGION and/],
    ])("says what to do about %s", async (_, change, message) => {
      const { bodies, spool } = openOn(server, { client: change });
      const body = randomBytes(100);
      const refusal = { code: "STORE_UNREACHABLE", message: expect.stringMatching(message) };

      await expect(bodies.put(body)).rejects.toMatchObject(refusal);
      const ref = String(await openOn(server).bodies.put(body));

      await expect(bodies.get(ref)).rejects.toMatchObject(refusal);
      await expect(spool.get({ jobId: "a", taskId: "b" })).rejects.toMatchObject(refusal);
      await expect(spool.remove({ jobId: "a", taskId: "b" })).rejects.toMatchObject(refusal);
    });

    it("says where nobody answers", async () => {
      const proxy = await startMeddlingProxy(server.endpoint);
      await proxy.stop();
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint } });

      await expect(bodies.put(Buffer.from("page"))).rejects.toMatchObject({
        code: "STORE_UNREACHABLE",
        message: expect.stringMatching(
          /no answer from http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED.*; check TRAWL_S3_ENDPOINT/,
        ),
      });
    });

    it("does not wait for ever for a server that says nothing", async () => {
      const proxy = await meddler(server);
      proxy.meddle(() => "silence");
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint, timeoutMs: 50, tries: 2 } });

      await expect(bodies.put(Buffer.from("page"))).rejects.toMatchObject({
        message: expect.stringMatching(/no answer from .*timeout/),
      });
    });

    it("sends a body that is there no second time", async () => {
      const proxy = await meddler(server);
      const body = randomBytes(1000);

      for (const each of ["one process", "another"]) {
        await openOn(server, { prefix: "both/", client: { endpoint: proxy.endpoint } }).bodies.put(body);
        expect(proxy.seen, each).toContain("PUT");
      }

      expect(proxy.seen).toEqual(["HEAD", "PUT", "HEAD"]);
    });

    it.each([
      ["is busy", { answer: 503 }],
      ["is at fault", { answer: 500 }],
      ["asks for less", { answer: 429 }],
      ["does it, and its answer is lost", "lose answer"],
    ] as const)("tries again when the server %s", async (_, wish) => {
      const proxy = await meddler(server);
      let left = 2;
      proxy.meddle((step) => (step === "PUT" && left-- > 0 ? wish : undefined));
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint } });

      const body = randomBytes(1000);
      const ref = String(await bodies.put(body));

      expect(proxy.seen).toEqual(["HEAD", "PUT", "PUT", "PUT"]);
      expect(await bodies.get(ref)).toEqual(body);
    });

    it("begins no try once its patience is at an end", async () => {
      const proxy = await meddler(server);
      proxy.meddle((step) => (step === "PUT" ? { answer: 503 } : undefined));
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint, patienceMs: 0 } });

      await expect(bodies.put(randomBytes(10))).rejects.toThrow(/the server answered status 503/);
      expect(proxy.seen).toEqual(["HEAD", "PUT"]);
    });

    it("gives up after so many tries, and says what the server said", async () => {
      const proxy = await meddler(server);
      proxy.meddle((step) => (step === "PUT" ? { answer: 503 } : undefined));
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint, tries: 3 } });

      await expect(bodies.put(randomBytes(10))).rejects.toThrow(/the server answered status 503/);
      expect(proxy.seen).toEqual(["HEAD", "PUT", "PUT", "PUT"]);
    });
  });

  describe("a long body", () => {
    it("goes in parts, and comes back whole", async () => {
      const proxy = await meddler(server);
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint } });
      const body = randomBytes(2 * PART_BYTES + 1000);

      const ref = String(await bodies.put(body));

      const parts = ["PUT ?partNumber", "PUT ?partNumber", "PUT ?partNumber"];
      expect(proxy.seen).toEqual(["HEAD", "POST ?uploads", ...parts, "POST ?uploadId"]);
      expect(body.equals((await bodies.get(ref)) ?? Buffer.alloc(0))).toBe(true);
      expect(await uploadsIn(server)).toEqual([]);
    });

    it("that cannot be sent leaves no part behind", async () => {
      const proxy = await meddler(server);
      let parts = 0;
      proxy.meddle((step) => (step === "PUT ?partNumber" && ++parts > 1 ? { answer: 500 } : undefined));
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint, tries: 2 } });

      await expect(bodies.put(randomBytes(2 * PART_BYTES + 1000))).rejects.toThrow(/status 500/);

      expect(proxy.seen.at(-1)).toBe("DELETE ?uploadId");
      expect(await uploadsIn(server)).toEqual([]);
    });

    it("is there when only the answer to the last step was lost", async () => {
      const proxy = await meddler(server);
      let isFirst = true;
      proxy.meddle((step) => {
        if (step !== "POST ?uploadId" || !isFirst) return undefined;
        isFirst = false;
        return "lose answer";
      });
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint } });
      const body = randomBytes(PART_BYTES + 1000);

      const ref = String(await bodies.put(body));

      expect(body.equals((await bodies.get(ref)) ?? Buffer.alloc(0))).toBe(true);
      expect(await uploadsIn(server)).toEqual([]);
    });
  });
});

async function meddler(server: S3Server): Promise<MeddlingProxy> {
  const proxy = await startMeddlingProxy(server.endpoint);
  onTestFinished(() => proxy.stop());
  return proxy;
}

function openOn(
  server: S3Server,
  { prefix = `${randomUUID()}/`, client = {} }: { prefix?: string; client?: Partial<S3ClientOptions> } = {},
) {
  const { endpoint, bucket, region, accessKey, secretKey } = server;
  const times = { timeoutMs: 30_000, patienceMs: 60_000, tries: 4, backoffMs: 1 };
  const tuning = { isPathStyle: true, sessionToken: undefined, ...times };
  const options = { endpoint, bucket, region, accessKey, secretKey, ...tuning, ...client };
  const sizes = { partBytes: PART_BYTES, partsAtOnce: 3 };
  const objects = openS3Objects(createS3Client({ clock: systemClock() }, options), { ...options, ...sizes, prefix });
  return { bodies: openS3Bodies(objects, Date.now), spool: openS3Spool(objects) };
}

async function keysIn(server: S3Server): Promise<string[]> {
  return matchesIn(await server.fetch("GET", `${server.bucket}?list-type=2`), /<Key>([^<]+)<\/Key>/g);
}

async function uploadsIn(server: S3Server): Promise<string[]> {
  return matchesIn(await server.fetch("GET", `${server.bucket}?uploads`), /<UploadId>([^<]+)<\/UploadId>/g);
}

async function matchesIn(answer: Response, pattern: RegExp): Promise<string[]> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return [...text.matchAll(pattern)].map(([, found = ""]) => found);
}
