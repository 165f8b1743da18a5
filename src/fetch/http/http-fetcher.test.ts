import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import zlib from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { connectionClosed, requestFor, UNPACED } from "../../../test/contracts/fetcher/harness.ts";
import { always, bytes, respond, startMisbehavingServer } from "../../../test/contracts/fetcher/misbehaving-server.ts";
import { isTrawlError } from "../../errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { parseNetworks } from "../egress/address.ts";
import { createEgressGate, type EgressOptions, type Lookup } from "../egress/gate.ts";
import { createHttpFetcher, type HttpFetcher, type HttpFetcherOptions } from "./http-fetcher.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("the HTTP fetcher and the egress gate", () => {
  it.each(["127.0.0.1", "0x7f.1", "[::ffff:127.0.0.1]"])(
    "does not connect to http://%s/ unless allowed",
    async (host) => {
      const server = await startServer();
      const fetcher = open({ allowNetworks: [] });
      const outcome = await fetcher.fetch(requestFor(`http://${host}:${server.port}/`));
      expect(outcome).toMatchObject({ kind: "dead", because: "egress_refused" });
      expect("detail" in outcome && outcome.detail).toContain("TRAWL_ALLOW_PRIVATE");
      expect(server.connections).toHaveLength(0);
    },
  );

  it("does not connect to a name that resolves to a private address", async () => {
    const server = await startServer();
    const fetcher = open({ allowNetworks: [], lookup: async () => ["8.8.8.8", "127.0.0.1"] });
    const outcome = await fetcher.fetch(requestFor(`http://public.test:${server.port}/`));
    expect(outcome).toMatchObject({
      kind: "dead",
      because: "egress_refused",
      detail: expect.stringContaining("127.0.0.1"),
    });
    expect(server.connections).toHaveLength(0);
  });

  it("allows a private address for a typed host, but not for the host it redirects to", async () => {
    const server = await startServer();
    const to = `http://127.0.0.2:${server.port}/metadata`;
    server.on("/", always({ status: 302, headers: { location: to } }));
    const fetcher = open({ allowNetworks: [], allowHosts: ["127.0.0.1"] });
    expect(await fetcher.fetch(requestFor(`${server.origin}/`))).toMatchObject({ kind: "redirect", to });
    expect(await fetcher.fetch(requestFor(to))).toMatchObject({ kind: "dead", because: "egress_refused" });
    expect(server.requests).toHaveLength(1);
  });

  it.each(["ENOTFOUND", "EAI_AGAIN"])("retries later if a name does not resolve (%s)", async (code) => {
    const fetcher = open({ lookup: () => Promise.reject(Object.assign(new Error("no luck"), { code })) });
    const outcome = await fetcher.fetch(requestFor("http://nowhere.test/"));
    expect(outcome).toMatchObject({ kind: "retry", because: "dns", detail: expect.stringContaining(code) });
  });

  it("retries later if no connection is opened in time", async () => {
    const fetcher = open({ lookup: () => new Promise(() => {}), connectMs: 1 });
    const outcome = await fetcher.fetch(requestFor("http://slow.test/"));
    expect(outcome).toMatchObject({ kind: "retry", because: "timeout" });
  });

  it("can be aborted while it connects", async () => {
    const aborter = new AbortController();
    const lookup: Lookup = () => {
      aborter.abort("enough");
      return new Promise(() => {});
    };
    const fetching = open({ lookup }).fetch({ ...requestFor("http://slow.test/"), signal: aborter.signal });
    await expect(fetching).rejects.toBe("enough");
  });
});

describe("the HTTP fetcher and TLS", () => {
  const openssl = findOpenssl();
  if (openssl === undefined) console.warn("openssl is not installed: the tests of certificates are skipped");

  it.skipIf(openssl === undefined)("fails on a self-signed certificate and reports it", async () => {
    const server = createTlsServer(selfSigned(openssl ?? ""), (_, response) => response.end("secret"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    const outcome = await open().fetch(requestFor(`https://127.0.0.1:${port}/`));
    expect(outcome).toMatchObject({
      kind: "dead",
      because: "bad_response",
      detail: expect.stringContaining("certificate"),
    });
  });

  it("fails if the server does not support TLS", async () => {
    const server = await startServer();
    for (const socket of server.connections) socket.end();
    server.on("/", always({ body: "plain" }));
    const fetching = open().fetch(requestFor(`https://127.0.0.1:${server.port}/`));
    while (server.connections.length === 0) await new Promise(setImmediate);
    server.connections[0]?.write("HTTP/1.1 400 Bad Request\r\n\r\n");
    expect(await fetching).toMatchObject({
      kind: "dead",
      because: "bad_response",
      detail: expect.stringContaining("TLS"),
    });
  });
});

describe("the HTTP fetcher's connections", () => {
  it("are never more than connectionsPerSite", async () => {
    const server = await startServer();
    let max = 0;
    const open3 = open({ connectionsPerSite: 3 });
    server.on("/", (socket) => {
      const busy = server.connections.filter((connection) => !connection.destroyed).length;
      max = Math.max(max, busy);
      setImmediate(() => respond(socket, { body: "page" }));
    });
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => open3.fetch(requestFor(`${server.origin}/`))));
    expect(outcomes.every(({ kind }) => kind === "page")).toBe(true);
    expect(max).toBe(3);
  });

  it("are not reopened after an aborted request until there is another request", async () => {
    const server = await startServer();
    server.on("/slow", bytes("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"));
    let opened = 0;
    const fetcher = open({
      lookup: async () => {
        opened++;
        return ["127.0.0.1"];
      },
    });
    const request = requestFor(`http://named.test:${server.port}/slow`);
    await fetcher.fetch({ ...request, limits: { ...request.limits, totalMs: 20 } });
    await connectionClosed(server);
    // The server is the last to see the closed connection: undici has finished its own cleanup by now.
    await new Promise(setImmediate);
    expect(opened).toBe(1);
  });

  it("are all closed by close, even while a request is in progress", async () => {
    const server = await startServer();
    const fetcher = open();
    server.on("/hang", () => {});
    const fetching = fetcher.fetch(requestFor(`${server.origin}/hang`));
    await server.nextRequest();
    await fetcher.close();
    expect(await fetching).toMatchObject({ kind: "retry", because: "network" });
  });
});

describe("the time limit of a request", () => {
  it("does not end a response that has arrived while the process was blocked", async () => {
    const origin = await startThreadServer();
    const limits = { bodyBytes: 1_000, totalMs: 100, idleMs: 100 };
    const block = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
    const trySend = () => {
      setImmediate(block); // after the bytes were written
      return true;
    };
    const outcome = await open({ allowance: { ...UNPACED, trySend } }).fetch({ ...requestFor(`${origin}/`), limits });
    expect(outcome).toMatchObject({ kind: "page", page: { status: 200 } });
  });
});

describe("the HTTP fetcher's own requests", () => {
  it.each<[string, Record<string, string>]>([
    ["value", { "x-bad": "a\r\nhost: evil" }],
    ["name", { "bad name": "x" }],
  ])("fail with BAD_JOB for an invalid header %s", async (_, headers) => {
    const fetching = open().fetch({ ...requestFor("http://127.0.0.1:1/"), headers });
    await expect(fetching).rejects.toSatisfy((error) => isTrawlError(error, "BAD_JOB"));
  });
});

describe("a request whose body is cut at the limit", () => {
  it.each<[string, Record<string, string>, (text: Buffer) => Buffer]>([
    ["plain", {}, (text) => text],
    ["compressed", { "content-encoding": "gzip" }, (text) => zlib.gzipSync(text)],
  ])("returns the beginning of a %s body", async (_, headers, encode) => {
    const server = await startServer();
    server.on("/long", always({ headers, body: encode(Buffer.alloc(300_000, "abc")) }));
    const { url, site, limits, signal } = requestFor(`${server.origin}/long`);
    const request = { url, site, limits: { ...limits, bodyBytes: 1_000 }, headers: {}, signal };
    const answer = await open().send({ ...request, overflow: "cut" });
    expect(answer).toMatchObject({ kind: "answer", isCut: true, body: Buffer.alloc(1_000, "abc") });
  });
});

const corpus = new URL("../../../../shared/corpora/wpt-content-encoding/fetch/content-encoding/", import.meta.url);
const hasCorpus = existsSync(corpus);
if (!hasCorpus) console.warn("../shared/corpora/wpt-content-encoding is absent: its test is skipped");

describe("the content-encoding files of the web-platform-tests", () => {
  it.skipIf(!hasCorpus)("are decoded if their coding was offered, and rejected otherwise", async () => {
    const server = await startServer();
    const fetcher = open();
    const outcomes: Record<string, string> = {};
    for (const coding of readdirSync(corpus)) {
      const folder = new URL(`${coding}/resources/`, corpus);
      for (const file of readdirSync(folder).filter((name) => !name.endsWith(".headers"))) {
        const lines = readFileSync(new URL(`${file}.headers`, folder), "utf8")
          .trim()
          .split("\n");
        const headers = Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2)));
        server.on(`/${file}`, always({ headers, body: readFileSync(new URL(file, folder)) }));
        const request = requestFor(`${server.origin}/${file}`);
        const outcome = await fetcher.fetch({ ...request, limits: { ...request.limits, bodyBytes: 100_000_000 } });
        outcomes[file] = outcome.kind === "page" ? `${outcome.page.bodyBytes} bytes` : outcome.kind;
        if (outcome.kind === "dead") expect(outcome.because).toBe("bad_response");
      }
    }
    const files = Object.keys(outcomes);
    expect(files.length).toBeGreaterThanOrEqual(12);
    for (const file of files.filter((name) => name.endsWith(".zst"))) expect(outcomes[file]).toBe("dead");
    for (const file of files.filter((name) => name.endsWith(".gz"))) {
      expect(outcomes[file]).toMatch(/^[1-9]\d* bytes$/);
      expect(outcomes[file.replace(".gz", ".br")]).toBe(outcomes[file]);
    }
  });
});

async function startServer() {
  const server = await startMisbehavingServer();
  cleanups.push(server.close);
  return server;
}

/** Starts a server that answers while the main thread is blocked. */
async function startThreadServer(): Promise<string> {
  const thread = new Worker(
    `const server = require("node:http").createServer((_, response) => response.end("page"));
    server.listen(0, "127.0.0.1", () => require("node:worker_threads").parentPort.postMessage(server.address().port));`,
    { eval: true },
  );
  cleanups.push(() => thread.terminate());
  const [port] = (await once(thread, "message")) as [number];
  return `http://127.0.0.1:${port}`;
}

type OpenOptions = Partial<EgressOptions> &
  Partial<HttpFetcherOptions> & { lookup?: Lookup; allowance?: typeof UNPACED };

function open({ lookup, allowance = UNPACED, ...more }: OpenOptions = {}): HttpFetcher {
  const egress = { allowNetworks: parseNetworks("127.0.0.0/8").networks, allowHosts: [], connectMs: 5_000, ...more };
  const fetcher = createHttpFetcher(
    {
      gate: createEgressGate(lookup === undefined ? {} : { lookup }, egress),
      allowance,
      clock: systemClock(),
    },
    { userAgent: "Trawl/test", connectionsPerSite: 4, keepAliveMs: 60_000, ...more },
  );
  cleanups.push(fetcher.close);
  return fetcher;
}

function findOpenssl(): string | undefined {
  return ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"].find((path) => existsSync(path));
}

function selfSigned(openssl: string): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "trawl-tls-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=self-signed.test", "-addext", "subjectAltName=IP:127.0.0.1"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync(openssl, ["req", "-x509", ...curve, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}
