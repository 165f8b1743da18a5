import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { waitUntil } from "../../../test/services/wait-until.ts";
import { exitFrom } from "../../../test/site/exits.ts";
import { startProxy } from "../../../test/site/proxy.ts";
import { parseNetworks } from "./address.ts";
import { type FilterProxy, startFilterProxy } from "./filter-proxy.ts";
import { createEgressGate } from "./gate.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("the filter proxy", () => {
  it("forwards a request with its body, without hop-by-hop headers", async () => {
    const { origin, seen } = await serve();
    const proxy = await start();

    const answer = await send(proxy, `${origin}/a?b`, { method: "POST", body: "hello", headers: { "x-own": "1" } });

    expect(answer).toMatchObject({ status: 201, body: "POST /a?b hello", headers: { "x-answer": "yes" } });
    expect(seen[0]?.headers).toMatchObject({ "x-own": "1" });
    expect(Object.keys(seen[0]?.headers ?? {})).not.toContain("proxy-authorization");
    expect(proxy.counts()).toEqual({ passed: 1, refused: 0, unknown: 0 });
  });

  it("forwards the bytes of a tunnel in both directions", async () => {
    const echo = await listen();
    const proxy = await start();

    const { head, socket } = await tunnel(proxy, `127.0.0.1:${echo.port}`);
    socket.write("ping");

    expect(head).toMatch(/^HTTP\/1.1 200 /);
    expect(String((await once(socket, "data"))[0])).toBe("ping");
  });

  it.each(["127.0.0.2", "forbidden.test", "0x7f.2", "2130706434", "[::ffff:127.0.0.2]"])(
    "refuses %s with 403, as a tunnel and as a plain request, and counts both",
    async (host) => {
      const forbidden = await listen("127.0.0.2");
      const proxy = await start();

      expect((await tunnel(proxy, `${host}:${forbidden.port}`)).head).toMatch(/^HTTP\/1.1 403 /);
      expect(await send(proxy, `http://${host}:${forbidden.port}/`)).toMatchObject({ status: 403, body: "" });
      expect(proxy.counts()).toEqual({ passed: 0, refused: 2, unknown: 0 });
      expect(forbidden.connections()).toBe(0);
    },
  );

  it.each(["http", "socks5"] as const)("sends the connections of a pass through its %s proxy", async (kind) => {
    const [{ origin, seen }, echo, forbidden] = [await serve(), await listen(), await listen("127.0.0.2")];
    const upstream = await startProxy({ kind, username: "u", password: "p" });
    cleanups.push(upstream.close);
    const proxy = await start();
    for (const resolve of ["here", "proxy"]) {
      const exit = exitFrom({ url: upstream.url, resolve });
      const pass = { ...proxy, ...proxy.admit({ bytes: 1_000_000, exit }) };
      upstream.targets.length = 0;

      const { head, socket } = await tunnel(pass, `127.0.0.1:${echo.port}`);
      socket.write("ping");
      expect([head.slice(0, 12), String((await once(socket, "data"))[0])]).toEqual(["HTTP/1.1 200", "ping"]);
      expect(await send(pass, `${origin}/a`)).toMatchObject({ status: 201 });
      expect((await tunnel(pass, `127.0.0.2:${forbidden.port}`)).head).toMatch(/^HTTP\/1.1 403 /);

      // One tunnel of the program, and one for its plain request, unless an earlier one is open.
      expect(upstream.targets).toContain(`127.0.0.1:${echo.port}`);
    }
    expect(seen).toHaveLength(2);
    expect(forbidden.connections()).toBe(0);
  });

  it("counts bytes for each pass, closes the connection at the limit, and refuses the pass afterwards", async () => {
    const echo = await listen();
    const { origin } = await serve();
    const proxy = await start();
    const pass = proxy.admit({ bytes: 1_000 });
    const other = proxy.admit({ bytes: 1_000 });
    const { socket } = await tunnel({ ...proxy, ...pass }, `127.0.0.1:${echo.port}`);

    socket.write("x".repeat(600));
    await once(socket, "data");
    const ended = once(socket, "close");
    socket.write("x".repeat(600));
    await ended;

    expect((await tunnel({ ...proxy, ...pass }, `127.0.0.1:${echo.port}`)).head).toMatch(/^HTTP\/1.1 403 /);
    expect(await send({ ...proxy, ...pass }, origin)).toMatchObject({ status: 403 });
    expect(await send({ ...proxy, ...other }, origin)).toMatchObject({ status: 201 });
  });

  it("closes the connections of a revoked pass and no longer accepts the pass", async () => {
    const echo = await listen();
    const proxy = await start();
    const pass = proxy.admit({ bytes: Number.POSITIVE_INFINITY });
    const { socket } = await tunnel({ ...proxy, ...pass }, `127.0.0.1:${echo.port}`);
    const ended = once(socket, "close");

    pass.revoke();
    await ended;

    expect((await tunnel({ ...proxy, ...pass }, `127.0.0.1:${echo.port}`)).head).toMatch(/^HTTP\/1.1 407 /);
  });

  it("aborts requests that wait for a response when their pass is revoked", async () => {
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    cleanups.push(() => silent.close());
    const proxy = await start();
    const pass = proxy.admit({ bytes: Number.POSITIVE_INFINITY });
    const sending = send({ ...proxy, ...pass }, `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
    const failed = expect(sending).rejects.toThrow();
    const [incoming]: IncomingMessage[] = await once(silent, "request");
    const ended = once(incoming?.socket as never, "close");

    pass.revoke();

    await Promise.all([failed, ended]);
  });

  it("closes a tunnel that is still connecting when its pass is revoked", async () => {
    const echo = await listen();
    const lookups: ((found: string[]) => void)[] = [];
    const proxy = await start(() => new Promise((resolve) => void lookups.push(resolve)));
    const pass = proxy.admit({ bytes: Number.POSITIVE_INFINITY });
    const opening = tunnel({ ...proxy, ...pass }, `slow.test:${echo.port}`);
    opening.catch(() => {}); // it never opens
    await waitUntil(() => lookups.length === 1, 5_000);

    pass.revoke();
    lookups[0]?.(["127.0.0.1"]);

    await waitUntil(() => echo.connections() === 1 && echo.open() === 0, 5_000);
    expect([echo.connections(), echo.open()]).toEqual([1, 0]);
  });

  it("refuses clients without the secret", async () => {
    const { origin, seen } = await serve();
    const proxy = await start();
    const unauthorized = { ...proxy, password: "guess" };

    expect(await send(unauthorized, origin)).toMatchObject({
      status: 407,
      headers: { "proxy-authenticate": expect.stringContaining("Basic") },
    });
    expect((await tunnel(unauthorized, new URL(origin).host)).head).toMatch(
      /^HTTP\/1.1 407 .*proxy-authenticate: Basic/s,
    );
    expect((await send(unauthorized, proxy.welcomeUrl)).status).toBe(407);
    expect((await send(proxy, proxy.welcomeUrl)).status).toBe(200);
    expect([seen.length, proxy.counts().unknown]).toEqual([0, 3]);
  });

  it("gives every proxy a secret of its own", async () => {
    const [one, other] = [await start(), await start()];

    expect(one.password).not.toBe(other.password);
  });

  it.each(["nonsense", "127.0.0.1", "a b:80", "user@127.0.0.1:80", ":80"])(
    "answers 400 to a tunnel to %j",
    async (to) => {
      expect((await tunnel(await start(), to)).head).toMatch(/^HTTP\/1.1 400 /);
    },
  );

  it("answers 502 if nothing listens at the target, and 400 to a request that is not for a proxy", async () => {
    const gone = await listen();
    await gone.close();
    const proxy = await start();

    expect((await send(proxy, `http://127.0.0.1:${gone.port}/`)).status).toBe(502);
    expect((await tunnel(proxy, `127.0.0.1:${gone.port}`)).head).toMatch(/^HTTP\/1.1 502 /);
    expect((await send(proxy, "/local")).status).toBe(400);
    expect((await send(proxy, "ftp://127.0.0.1/")).status).toBe(400);
  });

  it("closes every tunnel when the proxy closes", async () => {
    const echo = await listen();
    const proxy = await start();
    const { socket } = await tunnel(proxy, `127.0.0.1:${echo.port}`);

    await Promise.all([once(socket, "close"), proxy.close()]);

    expect(socket.destroyed).toBe(true);
  });
});

async function start(lookup: () => Promise<string[]> = async () => ["127.0.0.2"]): Promise<FilterProxy> {
  const gate = createEgressGate(
    { lookup },
    { allowNetworks: parseNetworks("127.0.0.1").networks, allowHosts: [], connectMs: 5_000 },
  );
  const proxy = await startFilterProxy(gate);
  cleanups.push(proxy.close);
  return proxy;
}

type SendOptions = { method?: string; body?: string; headers?: Record<string, string> };

async function send(proxy: FilterProxy, path: string, { method = "GET", body = "", headers = {} }: SendOptions = {}) {
  const auth = `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString("base64")}`;
  const sent = request(proxy.url, { path, method, headers: { ...headers, "proxy-authorization": auth }, agent: false });
  sent.end(body);
  const [answer]: IncomingMessage[] = await once(sent, "response");
  if (answer === undefined) throw new Error("no answer");
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

async function tunnel({ url, username, password }: FilterProxy, to: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  cleanups.push(() => socket.destroy());
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  socket.write(`CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\nproxy-authorization: Basic ${auth}\r\n\r\n`);
  const [head] = await once(socket, "data");
  return { head: String(head), socket };
}

async function serve(): Promise<{ origin: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer(async (incoming, response) => {
    seen.push(incoming);
    const body = await text(incoming);
    response.writeHead(201, { "x-answer": "yes" }).end(`${incoming.method} ${incoming.url} ${body}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A TCP server that echoes all bytes. */
async function listen(host = "127.0.0.1") {
  let connections = 0;
  let open = 0;
  const server = createTcpServer((socket) => {
    connections++;
    open++;
    socket.on("close", () => open--);
    socket.on("error", () => socket.destroy());
    socket.pipe(socket);
  });
  server.listen(0, host);
  await once(server, "listening");
  const close = async (): Promise<void> => void server.close();
  cleanups.push(close);
  return { port: (server.address() as AddressInfo).port, connections: () => connections, open: () => open, close };
}
