import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { type OpenFetcher, pageText, useHarness } from "./harness.ts";
import { always, bytes, respond } from "./misbehaving-server.ts";

export function describeAnswers(open: OpenFetcher): void {
  const harness = useHarness(open);

  describe("answers", () => {
    it("returns a page with its status, headers, size and times", async () => {
      const { server, get } = await harness();
      server.on("/a", always({ status: 203, headers: { "Content-Type": "text/plain; charset=x" }, body: "hello" }));
      const before = Date.now();

      const outcome = await get("/a?b=c");

      expect(pageText(outcome)).toBe("hello");
      expect(outcome).toMatchObject({
        page: { url: `${server.origin}/a?b=c`, status: 203 },
      });
      expect(outcome).toMatchObject({ page: { contentType: "text/plain; charset=x", bodyBytes: 5 } });
      const { fetchedAt, tookMs } = outcome.kind === "page" ? outcome.page : { fetchedAt: 0, tookMs: -1 };
      expect(fetchedAt).toBeGreaterThanOrEqual(before - 1);
      expect(tookMs).toBeGreaterThanOrEqual(0);
    });

    it("sends its default headers, and those of the request, which take precedence", async () => {
      const { server, get } = await harness();
      await get("/plain");
      await get("/special", { headers: { "x-extra": "1", "accept-language": "de" } });

      const [plain, special] = server.requests;
      expect(plain?.headers).toMatchObject({
        host: `127.0.0.1:${server.port}`,
        "user-agent": expect.stringContaining("Trawl"),
        accept: expect.stringContaining("text/html"),
        "accept-language": "en,*;q=0.5",
        "accept-encoding": "gzip, deflate, br",
      });
      expect(special?.headers).toMatchObject({ "x-extra": "1", "accept-language": "de" });
      expect(special?.headers["user-agent"]).toBe(plain?.headers["user-agent"]);
    });

    it("sends the path and query unchanged", async () => {
      const { server, get } = await harness();
      await get("/%7Euser/a%20b;c?x=%26&y=1+2");
      expect(server.requests[0]?.path).toBe("/%7Euser/a%20b;c?x=%26&y=1+2");
    });

    it("returns the outcome that the policy defines for each status", async () => {
      const { server, get } = await harness();
      const statuses = Array.from({ length: 400 }, (_, n) => n + 200).filter(
        (s) => ![301, 302, 303, 307, 308].includes(s),
      );
      for (const status of statuses) server.on(`/${status}`, always({ status, body: "text" }));

      for (const status of statuses) {
        const outcome = await get(`/${status}`);
        expect([status, outcome]).toEqual([status, expect.objectContaining(expectedFor(status))]);
      }
      expect(server.requests).toHaveLength(statuses.length);
    });

    it.each([
      [204, "HTTP/1.1 204 No Content\r\n\r\n"],
      [205, "HTTP/1.1 205 Reset\r\ncontent-length: 0\r\n\r\n"],
    ])("returns a page with an empty body for status %i", async (status, raw) => {
      const { server, get } = await harness();
      server.on("/empty", bytes(raw));
      expect(await get("/empty")).toMatchObject({
        kind: "page",
        page: { status, bodyBytes: 0 },
        body: Buffer.alloc(0),
      });
    });

    it("sends validators, and accepts 304 only in response to them", async () => {
      const { server, get } = await harness();
      server.on("/same", bytes("HTTP/1.1 304 Not Modified\r\ncontent-encoding: gzip\r\n\r\n"));
      const validators = { etag: 'W/"1"', lastModified: "Sun, 06 Nov 1994 08:49:37 GMT" };

      const both = await get("/same", { validators });
      const onlyEtag = await get("/same", { validators: { ...validators, lastModified: undefined } });
      const withoutValidators = await get("/same");

      expect([both, onlyEtag]).toMatchObject([
        { kind: "unchanged", page: { status: 304, bodyBytes: 0 } },
        { kind: "unchanged" },
      ]);
      expect(withoutValidators).toMatchObject({ kind: "dead", because: "http_status", status: 304 });
      expect(server.requests.map(({ headers }) => [headers["if-none-match"], headers["if-modified-since"]])).toEqual([
        [validators.etag, validators.lastModified],
        [validators.etag, undefined],
        [undefined, undefined],
      ]);
    });

    it.each<[string, number | undefined]>([
      ["120", 120_000],
      ["0", 0],
      ["99999999", 3_600_000],
      ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
      ["soon", undefined],
      ["-1", undefined],
    ])("parses Retry-After: %s", async (header, retryAfterMs) => {
      const { server, get } = await harness();
      server.on("/later", always({ status: 429, headers: { "retry-after": header } }));
      const outcome = await get("/later");
      expect(outcome).toMatchObject({ kind: "retry", because: "throttled", status: 429 });
      expect(outcome).toHaveProperty(
        ...((retryAfterMs === undefined ? ["status", 429] : ["retryAfterMs", retryAfterMs]) as [string, unknown]),
      );
      expect("retryAfterMs" in outcome).toBe(retryAfterMs !== undefined);
    });

    it("lower-cases header names, joins repeated ones, and keeps cookies separate", async () => {
      const { server, get } = await harness();
      const headers = { "X-Many": ["a", "b"], "Set-Cookie": ["a=1; Expires=Mon, 01 Jan", "b=2"], "X-NAME": "café" };
      server.on("/headers", always({ headers }));
      expect(await get("/headers")).toMatchObject({
        page: { headers: { "x-many": "a, b", "set-cookie": "a=1; Expires=Mon, 01 Jan\nb=2", "x-name": "café" } },
      });
    });

    it("ignores interim responses", async () => {
      const { server, get } = await harness();
      server.on("/hints", (socket) => {
        socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n");
        respond(socket, { body: "final" });
      });
      expect(pageText(await get("/hints"))).toBe("final");
    });

    it.each([
      ["by length", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody", false],
      [
        "in chunks",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nbod\r\n1\r\ny\r\n0\r\nx-t: 1\r\n\r\n",
        false,
      ],
      ["by the end of the connection", "HTTP/1.1 200 OK\r\n\r\nbody", true],
      ["by HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nbody", true],
    ])("reads a body delimited %s", async (_, raw, close) => {
      const { server, get } = await harness();
      server.on("/body", bytes(raw, { close }));
      expect(pageText(await get("/body"))).toBe("body");
    });

    it("reads a response that arrives byte by byte", async () => {
      const { server, get } = await harness();
      server.on("/drip", (socket) => {
        const all = Buffer.from(
          "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
        );
        const next = (at: number): void => {
          if (at < all.length) socket.write(all.subarray(at, at + 1), () => setImmediate(next, at + 1));
        };
        next(0);
      });
      expect(pageText(await get("/drip"))).toBe("hello world");
    });

    it.each<[string, Buffer]>([
      ["gzip", zlib.gzipSync("text")],
      ["x-gzip", zlib.gzipSync("text")],
      ["deflate", zlib.deflateSync("text")],
      ["deflate", zlib.deflateRawSync("text")],
      ["br", zlib.brotliCompressSync("text")],
      ["identity", Buffer.from("text")],
      ["gzip, br", zlib.brotliCompressSync(zlib.gzipSync("text"))],
    ])("decodes %s", async (coding, body) => {
      const { server, get } = await harness();
      server.on("/coded", always({ headers: { "content-encoding": coding }, body }));
      const outcome = await get("/coded");
      expect(pageText(outcome)).toBe("text");
      expect(outcome).toMatchObject({ page: { bodyBytes: 4 } });
    });

    it("reuses one connection for sequential requests, whatever their outcome", async () => {
      const { server, get } = await harness();
      server.on("/page", always({ body: "x".repeat(20_000) }));
      server.on("/error", always({ status: 500, body: "y".repeat(20_000) }));
      for (const path of ["/page", "/error", "/missing", "/page"]) await get(path);
      expect(server.requests).toHaveLength(4);
      expect(server.connections).toHaveLength(1);
    });
  });
}

function expectedFor(status: number): object {
  if (status < 300) return { kind: "page" };
  if (status === 429 || status === 503) return { kind: "retry", because: "throttled", status };
  if (status === 408 || status === 425) return { kind: "retry", because: "server_error", status };
  if (status >= 500 && status !== 501 && status !== 505) return { kind: "retry", because: "server_error", status };
  return { kind: "dead", because: "http_status", status };
}
