/** A broker with TLS: trusted and untrusted certificates. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parseRedisUrl } from "../../src/frontier/redis/connection/connection-url.ts";
import { connect } from "../../src/frontier/redis/connection/ioredis.ts";
import { watchConnectionErrors } from "../../src/frontier/redis/connection/redis-errors.ts";
import { lastJson, trawl } from "../e2e/cli.ts";
import { newFolder } from "../e2e/folder.ts";
import { createStage } from "../redis/stage.ts";
import { type Certificates, findCertificatesObstacle, makeCertificates } from "../services/certificates.ts";
import { findFreePort } from "../services/free-port.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";
import { waitUntil } from "../services/wait-until.ts";

const obstacle = findRedisObstacle("redis-server") ?? findCertificatesObstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: a broker behind TLS: ${obstacle}`);

describe.skipIf(obstacle !== undefined)("a broker behind TLS", () => {
  let folder: string;
  let files: Certificates;
  let server: RedisServer;
  let address: string;
  const clientFiles = () => `cert=${files.client.cert}&key=${files.client.key}`;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "trawl-tls-"));
    files = makeCertificates(folder);
    const port = await findFreePort();
    address = `127.0.0.1:${port}`;
    // By default Redis also requires a certificate of the client.
    server = await startRedis({ args: tlsFlags(port, files) });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("accepts a client that trusts its authority and has a certificate of it", async () => {
    const stage = createStage(`rediss://${address}/0?ca=${files.ca}&${clientFiles()}`);
    const frontier = await stage.open();

    expect(await frontier.listJobs(1)).toEqual([]);
  });

  it.each([
    ["does not trust its authority", () => clientFiles(), /self-signed certificate|unable to verify/],
    ["sends no certificate, although one is required", () => `ca=${files.ca}`, /certificate required/],
  ])("refuses a client that %s", async (_, query, reason) => {
    const url = `rediss://${address}?${query()}`;

    await expect(createStage(url, { retryForMs: 300 }).open()).rejects.toMatchObject({ code: "BROKER_UNREACHABLE" });
    const client = connect(parseRedisUrl(url));
    onTestFinished(() => client.disconnect());
    const lastError = watchConnectionErrors(client);
    await expect(client.connect()).rejects.toThrow();
    expect(await waitUntil(() => reason.test(lastError()?.message ?? ""), 5_000), lastError()?.message).toBe(true);
  });

  it("leads to an error that explains a plain connection to a TLS port, or TLS to a plain port", async () => {
    const plain = `redis://${address}`;
    const encrypted = `rediss://127.0.0.1:${server.port}?ca=${files.ca}&${clientFiles()}`;

    for (const [url, text] of [
      [plain, `${address} uses TLS: write rediss`],
      [encrypted, `127.0.0.1:${server.port} does not use TLS: write redis`],
    ] as const) {
      const message = expect.stringContaining(text);
      await expect(createStage(url, { retryForMs: 300 }).open()).rejects.toMatchObject({ message });
    }
  });

  it("can be trusted by NODE_EXTRA_CA_CERTS instead of the URL", async () => {
    const env = { TRAWL_BROKER: `rediss://${address}?${clientFiles()}`, NODE_EXTRA_CA_CERTS: files.ca };

    const end = await trawl(["jobs", "--json"], { cwd: newFolder(), env });

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(lastJson(end)).toMatchObject({ jobs: [] });
  });

  it("is not contacted if a certificate file is missing", async () => {
    const stage = createStage(`rediss://${address}?ca=${folder}/none.pem`);

    await expect(stage.open()).rejects.toMatchObject({
      code: "BAD_CONFIG",
      message: expect.stringContaining("none.pem"),
    });
  });

  it("is found through sentinels over TLS, and used over TLS", async () => {
    const port = await findFreePort();
    const sentinel = await startRedis({ sentinel: true, args: [...tlsFlags(port, files), "--tls-replication", "yes"] });
    onTestFinished(() => sentinel.stop());
    const masterPort = address.split(":")[1] ?? "";
    await withRedis(sentinel.port, (redis) => redis.call("SENTINEL", "MONITOR", "m", "127.0.0.1", masterPort, 1));
    const query = `ca=${files.ca}&${clientFiles()}`;

    const frontier = await createStage(`rediss+sentinel://127.0.0.1:${port}/m?${query}`).open();

    // The ports of the sentinel and of the master accept only TLS.
    expect(await frontier.listJobs(1)).toEqual([]);
  });
});

describe("the parameters of a broker URL", () => {
  it.each([
    ["redis://h?ca=x", "unknown parameter ca; redis:// takes no parameters"],
    ["rediss://h?rejectUnauthorized=false", "unknown parameter rejectUnauthorized"],
    ["rediss://h?cert=x", "set both"],
    ["redis+sentinel://h/m?ca=x", "takes only sentinelUser, sentinelPassword"],
  ])("are refused if they would be ignored: %s", (url, message) => {
    expect(() => parseRedisUrl(url)).toThrow(message);
  });

  it("name files and the user for sentinels, and are not printed", () => {
    const parsed = parseRedisUrl("rediss+sentinel://a:b@h:1/m/2?ca=/ca.pem&sentinelUser=s&sentinelPassword=p%26q");

    expect(parsed).toMatchObject({
      tls: { ca: "/ca.pem", cert: "", key: "" },
      sentinel: { username: "s", password: "p&q" },
      redacted: "rediss+sentinel://h:1/m/2",
    });
  });
});

function tlsFlags(port: number, { ca, server }: Certificates): string[] {
  const own = ["--tls-cert-file", server.cert, "--tls-key-file", server.key];
  return ["--tls-port", String(port), ...own, "--tls-ca-cert-file", ca];
}
