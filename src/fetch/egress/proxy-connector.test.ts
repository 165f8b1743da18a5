import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { requestFor, UNPACED } from "../../../test/contracts/fetcher/harness.ts";
import { makeCertificates } from "../../../test/services/certificates.ts";
import { exitFrom } from "../../../test/site/exits.ts";
import { type Handler, type Origin, type Routes, startOrigin } from "../../../test/site/origin.ts";
import { type ProxyOptions, startProxy, type TestProxy } from "../../../test/site/proxy.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { Allowance } from "../fetcher.ts";
import { createHttpClient, type HttpClient } from "../http/http-client.ts";
import { parseNetworks } from "./address.ts";
import { createEgressGate, type Lookup } from "./gate.ts";

const LOGIN = { username: "user", password: "p:ä/@1" };
const KINDS = [{ kind: "http" }, { kind: "socks5" }] as const;
const CONNECT_MS = 5_000;

describe("requests through a proxy", () => {
  it.each(KINDS)("arrive from the $kind proxy, with credentials", async ({ kind }) => {
    const [site, proxy] = [
      await origin({ "/a": "<h1>a</h1>" }),
      await proxyOf({ kind, ...LOGIN, address: "127.0.1.1" }),
    ];
    const client = open({ allowed: "127.0.0.0/8" });

    const answer = await client.send({ ...request(`${site.url}/a?b=1`), exit: exitFrom(proxy.url) });

    expect(answer).toMatchObject({ kind: "answer", status: 200 });
    expect(site.from).toEqual(["127.0.1.1"]);
    expect(site.log[0]).toMatchObject({ path: "/a?b=1", headers: { host: site.site } });
    expect(site.log[0]?.headers).not.toHaveProperty("proxy-authorization");
    expect(proxy.targets).toEqual([site.site]);
  });

  it.each(KINDS)("use the connections of a $kind proxy again", async ({ kind }) => {
    const [site, proxy] = [await origin({ "/": "ok" }), await proxyOf({ kind })];
    const client = open({ allowed: "127.0.0.0/8" });
    for (let sent = 0; sent < 3; sent++) await client.send({ ...request(`${site.url}/`), exit: exitFrom(proxy.url) });
    expect([site.log.length, proxy.connections]).toEqual([3, 1]);
  });

  it("are forwarded with the whole URL if the proxy resolves names", async () => {
    const [site, proxy] = [await origin({ "/": "ok" }), await proxyOf(LOGIN)];
    const { port } = new URL(site.url);
    const client = open({ allowed: "", lookup: () => Promise.reject(new Error("names are not resolved here")) });
    const exit = exitFrom({ url: proxy.url, resolve: "proxy" });

    const answer = await client.send({ ...request(`http://localhost:${port}/`), exit });

    expect(answer).toMatchObject({ kind: "answer", status: 200 });
    expect(proxy.targets).toEqual([`localhost:${port}`]);
    expect(site.log[0]?.headers.host).toBe(`localhost:${port}`);
  });

  it.each([
    ...KINDS.map(({ kind }) => ({ kind, name: "a tunnel" })),
    { kind: "https", name: "a TLS connection to the proxy" } as const,
  ])("check the certificate of the site behind $kind ($name)", async ({ kind }) => {
    const folder = mkdtempSync(join(tmpdir(), "trawl-tls-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { server } = makeCertificates(folder);
    const tls = { cert: readFileSync(server.cert), key: readFileSync(server.key) };
    const site = createTlsServer(tls, (_, response) => response.end("ok"));
    const seen = new Promise<string>((resolve) => site.on("tlsClientError", (error) => resolve(error.message)));
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void site.close());
    const proxy = await proxyOf(kind === "https" ? { kind, tls } : { kind });
    const client = open({ allowed: "127.0.0.0/8" });

    const { port } = site.address() as AddressInfo;
    const answer = await client.send({ ...request(`https://127.0.0.1:${port}/`), exit: exitFrom(proxy.url) });

    if (kind === "https") {
      // The certificate of the proxy itself is checked first.
      expect(answer).toMatchObject({ kind: "retry", because: "proxy", detail: expect.stringContaining("certificate") });
      return;
    }
    expect(answer).toMatchObject({ kind: "dead", because: "bad_response", detail: expect.stringContaining("TLS") });
    expect(await seen).toMatch(/alert|certificate|socket/i);
    expect(proxy.targets).toEqual([`127.0.0.1:${port}`]);
  });

  it("through a gateway stay requests to the target", async () => {
    const gateway = await origin((incoming, response) => {
      const { searchParams } = new URL(incoming.url ?? "", "http://gateway.test");
      response.end(`${searchParams.get("key")} ${searchParams.get("url")}`);
    });
    const turns: string[] = [];
    const allowance = { ...UNPACED, turn: (site: string) => void turns.push(site) };
    const client = open({ allowed: "", allowance, lookup: async () => ["93.184.216.34"] });
    const exit = exitFrom({ gateway: `${gateway.url}/v1?key=k%261&url={url}` });

    const answer = await client.send({ ...request("https://a.example/x?y=1&z=$&"), exit });

    expect(answer).toMatchObject({ kind: "answer", body: Buffer.from("k&1 https://a.example/x?y=1&z=$&") });
    expect(turns).toEqual(["a.example"]);
  });
});

describe("the egress gate behind proxies", () => {
  const targets = ["http://127.0.0.1:1/", "http://[::1]:1/", "http://169.254.169.254/", "https://10.0.0.1/"];
  const exits = (url: string, gateway: string) => [
    { url },
    { url, resolve: "proxy" },
    { gateway: `${gateway}/?url={url}` },
    { gateway: `${gateway}/?url={url}`, resolve: "proxy" },
  ];

  it.each(KINDS)("refuses private addresses in URLs for every use of a $kind proxy and a gateway", async ({ kind }) => {
    const [proxy, gateway] = [await proxyOf({ kind }), await origin({ "/": "ok" })];
    const client = open({ allowed: "" });
    for (const written of exits(proxy.url, gateway.url)) {
      for (const url of targets) {
        const answer = await client.send({ ...request(url), exit: exitFrom(written) });
        expect(answer).toMatchObject({ kind: "dead", because: "egress_refused" });
      }
    }
    expect([proxy.connections, gateway.log.length]).toEqual([0, 0]);
  });

  it.each(KINDS)("refuses names with a private address before it asks a $kind proxy or a gateway", async ({ kind }) => {
    const [proxy, gateway] = [await proxyOf({ kind }), await origin({ "/": "ok" })];
    const client = open({ allowed: "", lookup: async () => ["8.8.8.8", "10.0.0.1"] });
    for (const written of exits(proxy.url, gateway.url).filter(({ resolve }) => resolve !== "proxy")) {
      for (const scheme of ["http", "https"]) {
        const answer = await client.send({ ...request(`${scheme}://rebound.example/`), exit: exitFrom(written) });
        expect(answer).toMatchObject({
          kind: "dead",
          because: "egress_refused",
          detail: expect.stringMatching(/10\.0/),
        });
      }
    }
    expect([proxy.connections, gateway.log.length]).toEqual([0, 0]);
  });

  it.each(KINDS)("asks a $kind proxy for the checked address, not for the name", async ({ kind }) => {
    const site = await origin({ "/": "ok" });
    const connectTo = { host: "127.0.0.1", port: Number(new URL(site.url).port) };
    const proxy = await proxyOf({ kind, connectTo });
    const client = open({ allowed: "", lookup: async () => ["2606:2800:220:1::1", "93.184.216.34"] });

    await client.send({ ...request("http://a.example/"), exit: exitFrom(proxy.url) });

    expect(proxy.targets).toEqual(["93.184.216.34:80"]);
    expect(site.log[0]?.headers.host).toBe("a.example");
  });

  it("asks a proxy for the name with resolve: proxy and with socks5h", async () => {
    const site = await origin({ "/": "ok" });
    const connectTo = { host: "127.0.0.1", port: Number(new URL(site.url).port) };
    const [http, socks] = [await proxyOf({ connectTo }), await proxyOf({ kind: "socks5", connectTo })];
    const client = open({ allowed: "", lookup: () => Promise.reject(new Error("names are not resolved here")) });

    await client.send({ ...request("http://a.example/"), exit: exitFrom({ url: http.url, resolve: "proxy" }) });
    await client.send({ ...request("http://a.example/"), exit: exitFrom(socks.url.replace("socks5:", "socks5h:")) });

    expect([http.targets, socks.targets]).toEqual([["a.example:80"], ["a.example:80"]]);
  });
});

describe("a proxy that fails", () => {
  it.each(KINDS)(
    "is a failure of the $kind proxy, not of the site, and its password is not shown",
    async ({ kind }) => {
      const site = await origin({ "/": "ok" });
      const client = open({ allowed: "127.0.0.0/8" });
      const [dead, locked] = [await proxyOf({ kind, ...LOGIN }), await proxyOf({ kind, ...LOGIN })];
      dead.mode = "dead";
      const wrong = locked.url.replace(/p%3A[^@]*@/, "canary-password@");
      const closed = await proxyOf({ kind });
      await closed.close();

      for (const url of [dead.url, wrong, closed.url]) {
        const answer = await client.send({ ...request(`${site.url}/`), exit: exitFrom(url) });
        expect(answer).toMatchObject({ kind: "retry", because: "proxy", isProxyDown: true });
        expect(JSON.stringify(answer)).not.toMatch(/canary-password|p%3A|p:ä/);
      }
      expect(site.log).toHaveLength(0);
    },
  );

  it.each(KINDS)("that cannot reach the site works for others ($kind)", async ({ kind }) => {
    const gone = await origin({ "/": "ok" });
    await gone.close();
    const proxy = await proxyOf({ kind });
    const client = open({ allowed: "127.0.0.0/8" });
    const answer = await client.send({ ...request(`${gone.url}/`), exit: exitFrom(proxy.url) });
    expect(answer).toMatchObject({ kind: "retry", because: "proxy" });
    expect(answer).not.toHaveProperty("isProxyDown");
  });

  it("that refuses CONNECT to other ports names the fix", async () => {
    const [site, proxy] = [await origin({ "/": "ok" }), await proxyOf({ connectStatus: 403 })];
    const client = open({ allowed: "127.0.0.0/8" });
    const answer = await client.send({ ...request(`${site.url}/`), exit: exitFrom(proxy.url) });
    expect(answer).toMatchObject({ because: "proxy", detail: expect.stringContaining('set resolve: "proxy"') });
  });

  it.each(KINDS)("that does not answer is given up after the connect timeout ($kind)", async ({ kind }) => {
    const [site, proxy] = [await origin({ "/": "ok" }), await proxyOf({ kind })];
    proxy.mode = "stuck";
    const client = open({ allowed: "127.0.0.0/8", connectMs: 50 });
    const answer = await client.send({ ...request(`${site.url}/`), exit: exitFrom(proxy.url) });
    expect(answer).toMatchObject({ because: "proxy", detail: expect.stringContaining("did not answer in 50 ms") });
  });
});

describe("the pace behind a proxy", () => {
  it.each(KINDS)("is checked again right before the bytes are sent through a $kind proxy", async ({ kind }) => {
    const [site, proxy] = [await origin({ "/": "ok" }), await proxyOf({ kind })];
    const answers = [false, false, true];
    const calls: string[] = [];
    const allowance: Allowance = {
      turn: () => void calls.push("turn"),
      trySend: () => {
        calls.push(`send after ${proxy.targets.length} tunnels`);
        return answers.shift() ?? true;
      },
      unsent: () => void calls.push("unsent"),
    };
    const client = open({ allowed: "127.0.0.0/8", allowance });

    await client.send({ ...request(`${site.url}/`), exit: exitFrom(proxy.url) });

    const withdrawn = ["turn", "send after 1 tunnels", "unsent"];
    expect(calls).toEqual([...withdrawn, ...withdrawn, "turn", "send after 1 tunnels"]);
    expect(site.log).toHaveLength(1);
  });
});

type SeenOrigin = Origin & { from: (string | undefined)[] };

async function origin(content: Handler | Routes): Promise<SeenOrigin> {
  const from: (string | undefined)[] = [];
  const routes = typeof content === "function" ? content : undefined;
  const site = await startOrigin((incoming, response) => {
    from.push(incoming.socket.remoteAddress);
    if (routes !== undefined) return routes(incoming, response);
    const reply = (content as Routes)[new URL(incoming.url ?? "", "http://x.test").pathname];
    if (reply === undefined) response.writeHead(404).end();
    else response.end(String(reply));
  });
  onTestFinished(() => site.close());
  return Object.assign(site, { from });
}

async function proxyOf(options: ProxyOptions): Promise<TestProxy> {
  const proxy = await startProxy(options);
  onTestFinished(() => proxy.close().catch(() => {}));
  return proxy;
}

type Opened = { allowed: string; lookup?: Lookup; allowance?: Allowance; connectMs?: number };

function open({ allowed, lookup, allowance = UNPACED, connectMs = CONNECT_MS }: Opened): HttpClient {
  const { networks } = parseNetworks(allowed);
  const deps = lookup === undefined ? {} : { lookup };
  const gate = createEgressGate(deps, { allowNetworks: networks, allowHosts: [], connectMs });
  const options = { userAgent: "Test", connectionsPerSite: 4, keepAliveMs: 10_000 };
  const client = createHttpClient({ gate, allowance, clock: systemClock() }, options);
  onTestFinished(() => client.close());
  return client;
}

function request(url: string) {
  const { limits, headers, signal, site } = requestFor(url);
  return { url, site, limits, headers, signal, overflow: "refuse" as const };
}
