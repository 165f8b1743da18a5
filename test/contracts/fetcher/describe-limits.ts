import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { connectionClosed, LIMITS, type OpenFetcher, pageText, useHarness } from "./harness.ts";
import { always, bytes, endlessly } from "./misbehaving-server.ts";

const TOO_BIG = { kind: "dead", because: "too_big" };

export function describeLimits(open: OpenFetcher): void {
  const harness = useHarness(open);
  const limits = { ...LIMITS, bodyBytes: 1_000 };

  describe("limits", () => {
    it("accepts a body of exactly limits.bodyBytes, compressed or not", async () => {
      const { server, get } = await harness();
      const body = Buffer.alloc(1_000, "x");
      server.on("/plain", always({ body }));
      server.on("/gzip", always({ headers: { "content-encoding": "gzip" }, body: zlib.gzipSync(body) }));
      for (const path of ["/plain", "/gzip"]) expect(pageText(await get(path, { limits }))).toHaveLength(1_000);
    });

    it("does not read a body whose declared length is too big", async () => {
      const { server, get } = await harness();
      server.on("/declared", bytes("HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n"));
      expect(await get("/declared", { limits })).toMatchObject(TOO_BIG);
    });

    it("closes the connection if a body does not end", async () => {
      const { server, get } = await harness();
      server.on("/endless", endlessly("HTTP/1.1 200 OK\r\n\r\n", Buffer.alloc(10_000, "x")));
      const fetching = get("/endless", { limits });
      await server.nextRequest();
      const closed = connectionClosed(server);
      expect(await fetching).toMatchObject(TOO_BIG);
      await closed;
    });

    it("stops reading a compressed body that does not end", async () => {
      const { server, get } = await harness();
      server.on("/endless", endlessly("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n", zlib.gzipSync("more")));
      expect(await get("/endless", { limits })).toMatchObject(TOO_BIG);
    });

    it.each<[string, (body: Buffer) => Buffer]>([
      ["gzip", zlib.gzipSync],
      ["deflate", zlib.deflateSync],
      ["br", zlib.brotliCompressSync],
    ])("does not decompress a %s bomb beyond the limit", async (coding, encode) => {
      const { server, get } = await harness();
      const bomb = encode(Buffer.alloc(10_000_000));
      expect(bomb.length).toBeLessThan(20_000);
      server.on("/bomb", always({ headers: { "content-encoding": coding }, body: bomb }));
      expect(await get("/bomb", { limits: { ...LIMITS, bodyBytes: 1_000_000 } })).toMatchObject(TOO_BIG);
      expect(await get("/bomb", { limits: { ...LIMITS, bodyBytes: 10_000_000 } })).toMatchObject({ kind: "page" });
    });

    it("returns the status of an error whose body is too long to drain, and continues with the site", async () => {
      const { server, get } = await harness();
      server.on("/endless", endlessly("HTTP/1.1 404 Not Found\r\n\r\n", Buffer.alloc(10_000, "x")));
      expect(await get("/endless")).toMatchObject({ kind: "dead", because: "http_status", status: 404 });
      expect(await get("/missing")).toMatchObject({ status: 404 });
      await connectionClosed(server);
    });

    it("returns the status of an error whose body is truncated", async () => {
      const { server, get } = await harness();
      server.on("/broken", bytes("HTTP/1.1 500 Oops\r\ncontent-length: 100\r\n\r\nhalf", { close: true }));
      expect(await get("/broken")).toMatchObject({ kind: "retry", because: "server_error", status: 500 });
    });

    it("fails permanently if the headers do not end", async () => {
      const { server, get } = await harness();
      server.on("/headers", endlessly("HTTP/1.1 200 OK\r\n", Buffer.from(`x-more: ${"y".repeat(1_000)}\r\n`)));
      expect(await get("/headers")).toMatchObject({ kind: "dead", because: "bad_response" });
    });

    it.each([
      ["before the response", ""],
      ["within the headers", "HTTP/1.1 200 OK\r\ncontent-"],
      ["within the body", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"],
    ])("times out if a site stops sending %s", async (_, raw) => {
      const { server, get } = await harness();
      server.on("/silent", bytes(raw));
      const outcome = await get("/silent", { limits: { ...LIMITS, idleMs: 1 } });
      expect(outcome).toMatchObject({ kind: "retry", because: "timeout", detail: expect.any(String) });
    });

    it.each([
      ["a response that never arrives", ""],
      ["a body that never ends", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"],
    ])("stops waiting for %s after the total time, and closes the connection", async (_, raw) => {
      const { server, get } = await harness();
      server.on("/slow", bytes(raw));
      const fetching = get("/slow", { limits: { ...LIMITS, totalMs: 20 } });
      await server.nextRequest();
      const closed = connectionClosed(server);
      expect(await fetching).toMatchObject({ kind: "retry", because: "timeout" });
      await closed;
    });

    it("stops reading a slow body after the total time, even if the site keeps sending bytes", async () => {
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
