import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Agent, request } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { isTrawlError } from "../../errors.ts";
import { parseNetworks } from "./address.ts";
import { createEgressGate, type EgressOptions, type Lookup } from "./gate.ts";

const LOOPBACK = parseNetworks("127.0.0.0/8,::1").networks;
const CLOSED: EgressOptions = { allowNetworks: [], allowHosts: [], connectMs: 5_000 };

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

describe("the gate's check of a URL", () => {
  it.each([
    "http://127.0.0.1/",
    "http://127.1:8080/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::7f00:1]/",
    "http://[64:ff9b::a00:1]/",
    "https://user:pass@10.0.0.1/",
    "http://0/",
  ])("refuses %s", (url) => {
    expect(createEgressGate({}, CLOSED).check(url)).toContain("TRAWL_ALLOW_PRIVATE");
  });

  it.each(["ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "data:text/html,x"])(
    "refuses the scheme of %s",
    (url) => {
      expect(createEgressGate({}, CLOSED).check(url)).toContain("only http: and https:");
    },
  );

  it("refuses a string that is not a URL, without throwing", () => {
    expect(createEgressGate({}, CLOSED).check("http://[::1")).toContain("not a URL");
  });

  it.each(["http://example.com/", "https://8.8.8.8/", "http://[2606:4700::1]/", "http://localhost/"])(
    "allows %s before its name is resolved",
    (url) => {
      expect(createEgressGate({}, CLOSED).check(url)).toBeUndefined();
    },
  );

  it("allows the networks the operator named, and no more", () => {
    const gate = createEgressGate({}, { ...CLOSED, allowNetworks: parseNetworks("10.1.0.0/16,::1").networks });
    expect(gate.check("http://10.1.2.3/")).toBeUndefined();
    expect(gate.check("http://[::1]:8080/")).toBeUndefined();
    expect(gate.check("http://10.2.0.1/")).toBeDefined();
  });

  it("allows exactly the hosts that the user typed, in any notation", () => {
    const gate = createEgressGate({}, { ...CLOSED, allowHosts: ["127.0.0.1", "[::1]", "0xa.1"] });
    for (const url of ["http://127.1/", "http://[0::1]/", "http://10.0.0.1/"]) expect(gate.check(url)).toBeUndefined();
    for (const url of ["http://127.0.0.2/", "http://[::2]/", "http://10.0.0.2/"]) expect(gate.check(url)).toBeDefined();
  });
});

describe("the gate's connector", () => {
  it.each(["127.0.0.1", "127.1", "0x7f.1", "[::ffff:127.0.0.1]", "localhost"])(
    "opens no connection to http://%s/",
    async (host) => {
      const listener = await listen();
      const error = await get(`http://${host}:${listener.port}/`, CLOSED);
      expect(isTrawlError(error, "EGRESS_REFUSED")).toBe(true);
      await listener.sawNothing();
    },
  );

  it("opens no connection to a name that resolves to a private address, and reports the address", async () => {
    const listener = await listen();
    const error = await get(`http://innocent.test:${listener.port}/`, CLOSED, async () => ["127.0.0.1"]);
    expect(error).toMatchObject({ code: "EGRESS_REFUSED", detail: { host: "innocent.test", address: "127.0.0.1" } });
    expect(String(error)).toMatch(/innocent\.test.*127\.0\.0\.1.*TRAWL_ALLOW_PRIVATE/);
    await listener.sawNothing();
  });

  it.each([
    [["8.8.8.8", "127.0.0.1"]],
    [["127.0.0.1", "8.8.8.8"]],
    [["2606:4700::1", "::ffff:7f00:1"]],
    [["not an address"]],
  ])("refuses the whole DNS answer %j because of one address that is not allowed", async (answer) => {
    const listener = await listen();
    const error = await get(`http://mixed.test:${listener.port}/`, CLOSED, async () => answer);
    expect(isTrawlError(error, "EGRESS_REFUSED")).toBe(true);
    await listener.sawNothing();
  });

  it("resolves a name once per connection, so that the address cannot change between check and use", async () => {
    const listener = await listen();
    let lookups = 0;
    // The first lookup returns an allowed address. A second one would return a forbidden address.
    const rebinding: Lookup = async () => (lookups++ === 0 ? ["127.0.0.1"] : ["10.0.0.1"]);
    const options = { ...CLOSED, allowNetworks: LOOPBACK };
    expect(await get(`http://rebinding.test:${listener.port}/`, options, rebinding)).toBe("hello");
    expect(lookups).toBe(1);
  });

  it("checks the address of every new connection", async () => {
    const listener = await listen();
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    const options = { ...CLOSED, allowNetworks: parseNetworks("127.0.0.1").networks };
    const gate = createEgressGate({ lookup: async () => answers.shift() ?? [] }, options);
    const agent = new Agent({ connect: gate.connector, pipelining: 0 });
    cleanups.push(() => agent.destroy());
    const send = () => request(`http://rebinding.test:${listener.port}/`, { dispatcher: agent });
    await (await send()).body.text();
    await expect(send()).rejects.toMatchObject({ code: "EGRESS_REFUSED" });
    expect(listener.connections).toHaveLength(1);
  });

  it("reaches allowed networks by name and by address", async () => {
    const listener = await listen();
    const options = { ...CLOSED, allowNetworks: LOOPBACK };
    expect(await get(`http://127.0.0.1:${listener.port}/`, options)).toBe("hello");
    expect(await get(`http://name.test:${listener.port}/`, options, async () => ["127.0.0.1"])).toBe("hello");
  });

  it("allows a private address for the typed host only, not for another name of the same address", async () => {
    const listener = await listen();
    const options = { ...CLOSED, allowHosts: ["Typed.Test"] };
    const lookup: Lookup = async () => ["127.0.0.1"];
    expect(await get(`http://typed.test:${listener.port}/`, options, lookup)).toBe("hello");
    const error = await get(`http://other.test:${listener.port}/`, options, lookup);
    expect(isTrawlError(error, "EGRESS_REFUSED")).toBe(true);
    expect(listener.connections).toHaveLength(1);
  });

  it("tries the other allowed addresses of a name when the first does not answer", async () => {
    const listener = await listen();
    const options = { ...CLOSED, allowNetworks: parseNetworks("127.0.0.0/8").networks };
    // Nothing listens on 127.0.0.9, since the server is bound to 127.0.0.1 only.
    const both: Lookup = async () => ["127.0.0.9", "127.0.0.1"];
    expect(await get(`http://two.test:${listener.port}/`, options, both)).toBe("hello");
  });

  it("keeps the name for TLS although it connects to a checked address", async () => {
    const listener = await listen();
    const hello = new Promise<Buffer>((resolve) => listener.server.once("connection", (s) => s.once("data", resolve)));
    const options = { ...CLOSED, allowNetworks: LOOPBACK };
    const getting = get(`https://sni.test:${listener.port}/`, options, async () => ["127.0.0.1"]);
    expect((await hello).toString("latin1")).toContain("sni.test");
    for (const socket of listener.connections) socket.destroy();
    expect(await getting).toBeInstanceOf(Error);
  });

  it("reports why a name did not resolve", async () => {
    const lookup: Lookup = async () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));
    expect(await get("http://nowhere.test/", CLOSED, lookup)).toMatchObject({ code: "ENOTFOUND" });
    expect(await get("http://nowhere.test/", CLOSED, async () => [])).toMatchObject({ code: "ENOTFOUND" });
  });

  it("times out if the name server never answers", async () => {
    const error = await get("http://slow.test/", { ...CLOSED, connectMs: 1 }, () => new Promise(() => {}));
    expect(error).toMatchObject({ code: "UND_ERR_CONNECT_TIMEOUT" });
  });
});

/** The text of the answer, or the error. */
async function get(url: string, options: EgressOptions, lookup?: Lookup): Promise<unknown> {
  const gate = createEgressGate(lookup === undefined ? {} : { lookup }, options);
  const agent = new Agent({ connect: gate.connector });
  cleanups.push(() => agent.destroy());
  try {
    const { body } = await request(url, { dispatcher: agent });
    return await body.text();
  } catch (error) {
    return error;
  }
}

async function listen(): Promise<{
  server: Server;
  port: number;
  connections: Socket[];
  sawNothing(): Promise<void>;
}> {
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on("error", () => socket.destroy());
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = async (): Promise<void> => {
    for (const socket of connections) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  cleanups.push(close);
  return {
    server,
    port,
    connections,
    // Connections are accepted in order: when the server has accepted the probe, it has accepted all earlier ones.
    async sawNothing() {
      const probe = connect(port, "127.0.0.1");
      await once(server, "connection");
      expect(connections).toHaveLength(1);
      probe.destroy();
    },
  };
}
