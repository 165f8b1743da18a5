import { randomBytes } from "node:crypto";
import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { type OpenFetcher, pageText, requestFor, useHarness } from "./harness.ts";
import { always, bytes, respond } from "./misbehaving-server.ts";

const NETWORK = { kind: "retry", because: "network" };
const BAD_RESPONSE = { kind: "dead", because: "bad_response" };

export function describeFailures(open: OpenFetcher): void {
  const harness = useHarness(open);

  describe("failures", () => {
    it.each([
      ["a protocol that is not HTTP", "SSH-2.0-OpenSSH_9.2p1 Debian\r\n"],
      ["a bare HTML page", "<html>hello</html>\r\n\r\n"],
      ["an impossible status line", "HTTP/1.1 banana\r\n\r\n"],
      ["garbage instead of a chunk length", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\nbody\r\n"],
      ["a content-length that is not a number", "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\nbody"],
    ])("fails permanently on %s", async (_, raw) => {
      const { server, get } = await harness();
      server.on("/odd", bytes(raw));
      const outcome = await get("/odd");
      expect(outcome).toMatchObject(BAD_RESPONSE);
      expect("detail" in outcome && outcome.detail).toMatch(/^[^\n]+$/);
    });

    it.each([
      ["before its first byte", ""],
      ["within the headers", "HTTP/1.1 200 OK\r\ncontent-le"],
      ["within a body of known length", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"],
      ["within a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\nhalf"],
      [
        "within a last chunk",
        "HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
      ],
    ])("returns a retry outcome if the connection ends %s", async (_, raw) => {
      const { server, get } = await harness();
      server.on("/closed", bytes(raw, { close: true }));
      expect(await get("/closed")).toMatchObject(NETWORK);
      expect(server.requests).toHaveLength(1);
    });

    it("returns a retry outcome if the connection is reset within the body", async () => {
      const { server, get } = await harness();
      server.on("/reset", (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => socket.resetAndDestroy());
      });
      expect(await get("/reset")).toMatchObject(NETWORK);
      expect(server.requests).toHaveLength(1);
    });

    it("accepts a page with more bytes than declared, and does not reuse the connection", async () => {
      const { server, get } = await harness();
      server.on("/more", bytes("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbodyAND MORE OF IT"));
      server.on("/next", always({ body: "next" }));
      expect(pageText(await get("/more"))).toBe("body");
      expect(pageText(await get("/next"))).toBe("next");
    });

    it("returns a retry outcome if the connection is refused", async () => {
      const { server, fetcher } = await harness();
      await server.close();
      const outcome = await fetcher.fetch(requestFor(`${server.origin}/`));
      expect(outcome).toMatchObject({ ...NETWORK, detail: expect.stringContaining("refused") });
      server.close = async () => {};
    });

    it("fails permanently on a corrupt compressed body, and returns a retry outcome for a truncated one", async () => {
      const { server, get } = await harness();
      const packed = zlib.gzipSync(randomBytes(1_000));
      const corrupt = Buffer.from(packed).fill(0, 100, 200);
      const headers = { "content-encoding": "gzip" };
      server.on("/corrupt", always({ headers, body: corrupt }));
      server.on("/plain", always({ headers, body: "<html>not compressed</html>" }));
      server.on("/truncated", always({ headers, body: packed.subarray(0, 500) }));
      server.on("/empty", always({ headers, body: "" }));
      expect(await get("/corrupt")).toMatchObject(BAD_RESPONSE);
      expect(await get("/plain")).toMatchObject(BAD_RESPONSE);
      expect(await get("/truncated")).toMatchObject(NETWORK);
      expect(pageText(await get("/empty"))).toBe("");
    });

    it.each(["zstd", "gzip, gzip, gzip, gzip"])("fails permanently on the content-encoding %s", async (coding) => {
      const { server, get } = await harness();
      server.on("/coded", always({ headers: { "content-encoding": coding }, body: "whatever" }));
      expect(await get("/coded")).toMatchObject({
        ...BAD_RESPONSE,
        detail: expect.stringContaining("content-encoding"),
      });
    });

    it("sends the request again, in another turn, if an idle connection was closed", async () => {
      const { server, get, calls } = await harness();
      server.on("/page", (socket, { connection }) => {
        if (connection === 1 && server.requests.length > 1) socket.destroy();
        else respond(socket, { body: "page" });
      });
      await get("/page");
      expect(pageText(await get("/page"))).toBe("page");
      expect(server.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
      expect([calls.turn.length, calls.trySend.length]).toEqual([3, 3]);
    });

    it("does not send the request a third time", async () => {
      const { server, get, calls } = await harness();
      server.on("/first", always({ body: "page" }));
      server.on("/dead", (socket) => socket.resetAndDestroy());
      await get("/first");
      expect(await get("/dead")).toMatchObject(NETWORK);
      expect(server.requests.map(({ path }) => path)).toEqual(["/first", "/dead", "/dead"]);
      expect(calls.turn).toHaveLength(3);
    });

    it("does not send the request again after the response has begun", async () => {
      const { server, get } = await harness();
      server.on("/first", always({ body: "page" }));
      server.on("/half", bytes("HTTP/1.1 2", { close: true }));
      await get("/first");
      expect(await get("/half")).toMatchObject(NETWORK);
      expect(server.requests).toHaveLength(2);
    });

    it("opens a new connection if the site closed the old one between two requests", async () => {
      const { server, get } = await harness();
      server.on("/once", (socket) => {
        respond(socket, { body: "once" });
        socket.end();
      });
      for (let n = 0; n < 5; n++) expect(pageText(await get("/once"))).toBe("once");
    });

    it("continues to fetch from a site after invalid responses and resets", async () => {
      const { server, get } = await harness();
      server.on("/garbage", bytes("garbage\r\n\r\n"));
      server.on("/reset", (socket) => socket.resetAndDestroy());
      server.on("/fine", always({ body: "fine" }));
      const paths = ["/garbage", "/fine", "/reset", "/fine", "/garbage", "/fine"];
      const outcomes = await Promise.all(paths.map((path) => get(path)));
      expect(outcomes.map(({ kind }) => kind).filter((kind) => kind === "page")).toHaveLength(3);
    });
  });
}
