import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { hungUp, LIMITS, type OpenFetcher, pageText, useHarness } from "./harness.ts";
import { always, bytes, endlessly } from "./misbehaving-server.ts";

const TOO_BIG = { kind: "dead", because: "too_big" };

export function describeLimits(open: OpenFetcher): void {
  const harness = useHarness(open);
  const limits = { ...LIMITS, bodyBytes: 1_000 };

  describe("limits", () => {
    it("takes a body of exactly limits.bodyBytes, however it comes", async () => {
      const { server, get } = await harness();
      const body = Buffer.alloc(1_000, "x");
      server.on("/plain", always({ body }));
      server.on("/gzip", always({ headers: { "content-encoding": "gzip" }, body: zlib.gzipSync(body) }));
      for (const path of ["/plain", "/gzip"]) expect(pageText(await get(path, { limits }))).toHaveLength(1_000);
    });

    it("does not begin to read a body that is declared too big", async () => {
      const { server, get } = await harness();
      server.on("/declared", bytes("HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n"));
      expect(await get("/declared", { limits })).toMatchObject(TOO_BIG);
    });

    it("hangs up on a body without end", async () => {
      const { server, get } = await harness();
      server.on("/endless", endlessly("HTTP/1.1 200 OK\r\n\r\n", Buffer.alloc(10_000, "x")));
      const asked = get("/endless", { limits });
      await server.nextRequest();
      const closed = hungUp(server);
      expect(await asked).toMatchObject(TOO_BIG);
      await closed;
    });

    it("hangs up on a compressed body without end", async () => {
      const { server, get } = await harness();
      server.on("/endless", endlessly("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n", zlib.gzipSync("more")));
      expect(await get("/endless", { limits })).toMatchObject(TOO_BIG);
    });

    it.each<[string, (body: Buffer) => Buffer]>([
      ["gzip", zlib.gzipSync],
      ["deflate", zlib.deflateSync],
      ["br", zlib.brotliCompressSync],
    ])("does not inflate a %s bomb beyond the limit", async (coding, encode) => {
      const { server, get } = await harness();
      const bomb = encode(Buffer.alloc(10_000_000));
      expect(bomb.length).toBeLessThan(20_000);
      server.on("/bomb", always({ headers: { "content-encoding": coding }, body: bomb }));
      expect(await get("/bomb", { limits: { ...LIMITS, bodyBytes: 1_000_000 } })).toMatchObject(TOO_BIG);
      expect(await get("/bomb", { limits: { ...LIMITS, bodyBytes: 10_000_000 } })).toMatchObject({ kind: "page" });
    });

    it("settles for the status of an error whose body is too long to drain, and goes on", async () => {
      const { server, get } = await harness();
      server.on("/endless", endlessly("HTTP/1.1 404 Not Found\r\n\r\n", Buffer.alloc(10_000, "x")));
      expect(await get("/endless")).toMatchObject({ kind: "dead", because: "http_status", status: 404 });
      expect(await get("/missing")).toMatchObject({ status: 404 });
      await hungUp(server);
    });

    it("settles for the status of an error whose body breaks off", async () => {
      const { server, get } = await harness();
      server.on("/broken", bytes("HTTP/1.1 500 Oops\r\ncontent-length: 100\r\n\r\nhalf", { close: true }));
      expect(await get("/broken")).toMatchObject({ kind: "retry", because: "server_error", status: 500 });
    });

    it("gives up on headers without end", async () => {
      const { server, get } = await harness();
      server.on("/headers", endlessly("HTTP/1.1 200 OK\r\n", Buffer.from(`x-more: ${"y".repeat(1_000)}\r\n`)));
      expect(await get("/headers")).toMatchObject({ kind: "dead", because: "bad_response" });
    });

    it.each([
      ["before the answer", ""],
      ["within the headers", "HTTP/1.1 200 OK\r\ncontent-"],
      ["within the body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"],
    ])("gives up when a site falls silent %s", async (_, raw) => {
      const { server, get } = await harness();
      server.on("/silent", bytes(raw));
      const outcome = await get("/silent", { limits: { ...LIMITS, idleMs: 1 } });
      expect(outcome).toMatchObject({ kind: "retry", because: "timeout", detail: expect.any(String) });
    });

    it.each([
      ["an answer that never comes", ""],
      ["a body that never ends", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"],
    ])("gives up on %s when the total time is over, and hangs up", async (_, raw) => {
      const { server, get } = await harness();
      server.on("/slow", bytes(raw));
      const asked = get("/slow", { limits: { ...LIMITS, totalMs: 20 } });
      await server.nextRequest();
      const closed = hungUp(server);
      expect(await asked).toMatchObject({ kind: "retry", because: "timeout" });
      await closed;
    });

    it("gives up on a drip that never falls silent when the total time is over", async () => {
      const { server, get } = await harness();
      server.on("/drip", (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        const drip = setInterval(() => socket.write("x"), 1);
        socket.on("close", () => clearInterval(drip));
      });
      const outcome = await get("/drip", { limits: { ...LIMITS, totalMs: 50 } });
      expect(outcome).toMatchObject({ kind: "retry", because: "timeout" });
    });
  });
}
