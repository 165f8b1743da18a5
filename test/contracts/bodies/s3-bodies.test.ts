import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { openS3Bodies } from "../../../src/store/bodies/s3/s3-bodies.ts";
import { createS3Client, type S3ClientOptions } from "../../../src/store/bodies/s3/s3-client.ts";
import { openS3Objects } from "../../../src/store/bodies/s3/s3-objects.ts";
import { openS3RequestBodies } from "../../../src/store/bodies/s3/s3-request-bodies.ts";
import { openS3Spool } from "../../../src/store/bodies/s3/s3-spool.ts";
import { findS3Obstacle, type S3Server, startS3 } from "../../services/s3.ts";
import { describeBodies } from "./describe-bodies.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";

/** The smallest part size that S3 servers accept. */
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
        "an unknown access key",
        { accessKey: "trawl:nobody" },
        /\(403\); check TRAWL_S3_ACCESS_KEY and TRAWL_S3_SECRET_KEY/,
      ],
      ["a missing bucket", { bucket: "no-such" }, /s3:\/\/no-such\/.*NoSuchBucket \(404\); create the bucket, or/],
      ["another region", { region: "us-east-1" }, /AuthorizationHeaderMalformed \(400\); set TRAWL_S3_REGION and/],
    ])("are refused with an error that says what to do about %s", async (_, change, message) => {
      const { bodies, spool } = openOn(server, { client: change });
      const body = randomBytes(100);
      const refusal = { code: "STORE_UNREACHABLE", message: expect.stringMatching(message) };

      await expect(bodies.put(body)).rejects.toMatchObject(refusal);
      const ref = String(await openOn(server).bodies.put(body));

      await expect(bodies.get(ref)).rejects.toMatchObject(refusal);
      await expect(spool.get({ jobId: "a", taskId: "b" })).rejects.toMatchObject(refusal);
      await expect(spool.remove({ jobId: "a", taskId: "b" })).rejects.toMatchObject(refusal);
    });

    it("are refused with an error that contains the endpoint if the server is down", async () => {
      const proxy = await startFaultyProxy(server.endpoint);
      await proxy.stop();
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint } });

      await expect(bodies.put(Buffer.from("page"))).rejects.toMatchObject({
        code: "STORE_UNREACHABLE",
        message: expect.stringMatching(
          /no answer from http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED.*; check TRAWL_S3_ENDPOINT/,
        ),
      });
    });

    it("are refused after a timeout if the server sends no response", async () => {
      const proxy = await startProxy(server);
      proxy.injectFaults(() => "no response");
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint, timeoutMs: 50, tries: 2 } });

      await expect(bodies.put(Buffer.from("page"))).rejects.toMatchObject({
        message: expect.stringMatching(/no answer from .*timeout/),
      });
    });

    it("are not sent again if they are already stored", async () => {
      const proxy = await startProxy(server);
      const body = randomBytes(1000);

      for (const each of ["one process", "another"]) {
        await openOn(server, { prefix: "both/", client: { endpoint: proxy.endpoint } }).bodies.put(body);
        expect(proxy.seen, each).toContain("PUT");
      }

      expect(proxy.seen).toEqual(["HEAD", "PUT", "HEAD"]);
    });

    it.each([
      ["is overloaded", { answer: 503 }],
      ["has an internal error", { answer: 500 }],
      ["throttles requests", { answer: 429 }],
      ["stores the body but its response is lost", "lose response"],
    ] as const)("are sent again if the server %s", async (_, fault) => {
      const proxy = await startProxy(server);
      let left = 2;
      proxy.injectFaults((step) => (step === "PUT" && left-- > 0 ? fault : undefined));
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint } });

      const body = randomBytes(1000);
      const ref = String(await bodies.put(body));

      expect(proxy.seen).toEqual(["HEAD", "PUT", "PUT", "PUT"]);
      expect(await bodies.get(ref)).toEqual(body);
    });

    it("are not sent again after the total time for retries", async () => {
      const proxy = await startProxy(server);
      proxy.injectFaults((step) => (step === "PUT" ? { answer: 503 } : undefined));
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint, retryForMs: 0 } });

      await expect(bodies.put(randomBytes(10))).rejects.toThrow(/the server answered status 503/);
      expect(proxy.seen).toEqual(["HEAD", "PUT"]);
    });

    it("are sent as often as configured, and then refused with the status of the server", async () => {
      const proxy = await startProxy(server);
      proxy.injectFaults((step) => (step === "PUT" ? { answer: 503 } : undefined));
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint, tries: 3 } });

      await expect(bodies.put(randomBytes(10))).rejects.toThrow(/the server answered status 503/);
      expect(proxy.seen).toEqual(["HEAD", "PUT", "PUT", "PUT"]);
    });
  });

  describe("a long body", () => {
    it("is uploaded in parts and returned whole", async () => {
      const proxy = await startProxy(server);
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint } });
      const body = randomBytes(2 * PART_BYTES + 1000);

      const ref = String(await bodies.put(body));

      const parts = ["PUT ?partNumber", "PUT ?partNumber", "PUT ?partNumber"];
      expect(proxy.seen).toEqual(["HEAD", "POST ?uploads", ...parts, "POST ?uploadId"]);
      expect(body.equals((await bodies.get(ref)) ?? Buffer.alloc(0))).toBe(true);
      expect(await uploadsIn(server)).toEqual([]);
    });

    it("that cannot be sent leaves no parts on the server", async () => {
      const proxy = await startProxy(server);
      let parts = 0;
      proxy.injectFaults((step) => (step === "PUT ?partNumber" && ++parts > 1 ? { answer: 500 } : undefined));
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint, tries: 2 } });

      await expect(bodies.put(randomBytes(2 * PART_BYTES + 1000))).rejects.toThrow(/status 500/);

      expect(proxy.seen.at(-1)).toBe("DELETE ?uploadId");
      expect(await uploadsIn(server)).toEqual([]);
    });

    it("is stored if only the response to the last step was lost", async () => {
      const proxy = await startProxy(server);
      let isFirst = true;
      proxy.injectFaults((step) => {
        if (step !== "POST ?uploadId" || !isFirst) return undefined;
        isFirst = false;
        return "lose response";
      });
      const { bodies } = openOn(server, { client: { endpoint: proxy.endpoint } });
      const body = randomBytes(PART_BYTES + 1000);

      const ref = String(await bodies.put(body));

      expect(body.equals((await bodies.get(ref)) ?? Buffer.alloc(0))).toBe(true);
      expect(await uploadsIn(server)).toEqual([]);
    });
  });
});

async function startProxy(server: S3Server): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy(server.endpoint);
  onTestFinished(() => proxy.stop());
  return proxy;
}

function openOn(
  server: S3Server,
  { prefix = `${randomUUID()}/`, client = {} }: { prefix?: string; client?: Partial<S3ClientOptions> } = {},
) {
  const { endpoint, bucket, region, accessKey, secretKey } = server;
  const times = { timeoutMs: 30_000, retryForMs: 60_000, tries: 4, backoffMs: 1 };
  const tuning = { isPathStyle: true, sessionToken: undefined, ...times };
  const options = { endpoint, bucket, region, accessKey, secretKey, ...tuning, ...client };
  const sizes = { partBytes: PART_BYTES, partsAtOnce: 3 };
  const objects = openS3Objects(createS3Client({ clock: systemClock() }, options), { ...options, ...sizes, prefix });
  return {
    bodies: openS3Bodies(objects, Date.now),
    spool: openS3Spool(objects),
    requestBodies: openS3RequestBodies(objects, { bodies: `s3://${bucket}`, requestBodyBytes: 1_000_000 }),
  };
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
