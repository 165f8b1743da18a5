/** Malicious and broken clients get a 4xx answer, and the server stays available for others. */
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { type Api, closeLater, startApi } from "./harness.ts";

const MB = 1024 * 1024;
const JSON_TYPE = { "content-type": "application/json" };

describe("a server under abuse", () => {
  it.each([
    ["unclosed brackets", "[".repeat(500_000)],
    ["unclosed objects", '{"extract":'.repeat(50_000)],
    ["a number of a million digits", `{"priority":${"9".repeat(1_000_000)}}`],
    ["a __proto__ key", '{"__proto__":{"urls":[]}}'],
    ["a constructor key", '{"constructor":{"prototype":{"urls":[]}}}'],
    ["an empty body", ""],
    ["an incomplete UTF-8 character", Buffer.from([0x22, 0xc3]).toString("latin1")],
    ["an array instead of an object", "[]"],
  ])("refuses %s", async (_, body) => {
    const { request } = await startApi();

    const { status, json } = await request("POST", "/v1/jobs", body, JSON_TYPE);

    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(json).toMatchObject({ code: "BAD_REQUEST" });
    expect((await request("GET", "/v1/jobs")).json.jobs).toEqual([]);
  });

  it.each([
    ["an invalid percent escape", "/v1/jobs/%zz"],
    ["an id that is too long", `/v1/jobs/${"x".repeat(5_000)}`],
  ])("refuses a path with %s and returns a problem document", async (_, path) => {
    const { request } = await startApi();

    const { status, json, headers } = await request("GET", path, undefined, { "x-request-id": "mine" });

    expect({ status, json }).toMatchObject({ status: 400, json: { code: "BAD_REQUEST", requestId: "mine" } });
    expect(headers.get("content-type")).toMatch(/^application\/problem\+json\b/);
    expect(headers.get("x-request-id")).toBe("mine");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("refuses a gigabyte, declared or chunked, without using memory for it", async () => {
    const api = await startApi();
    const before = process.memoryUsage().rss;

    const declared = await sendRaw(api, [post("/v1/jobs", "application/json", "content-length: 1073741824")]);
    const chunked = await sendRaw(api, [
      post("/v1/jobs", "application/json", "transfer-encoding: chunked"),
      ...chunks(1024),
    ]);

    expect(declared.text).toMatch(/^HTTP\/1\.1 413 [\s\S]*BODY_TOO_LARGE/);
    expect(chunked.text).toMatch(/^HTTP\/1\.1 413 /);
    expect(chunked.sent).toBeLessThan(200); // of 1024: the server stopped reading before the end
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * MB);
    expect((await api.request("GET", "/readyz")).status).toBe(200);
  });

  it("refuses a line of 300 MB in bounded memory", async () => {
    const api = await startApi();
    const { json } = await api.request("POST", "/v1/jobs", { open: true });
    const before = process.memoryUsage().rss;

    const path = `/v1/jobs/${json.id}/urls`;
    const { text } = await sendRaw(api, [
      post(path, "application/x-ndjson", "transfer-encoding: chunked"),
      ...chunks(300),
      "0\r\n\r\n",
    ]);

    expect(text).toMatch(/^HTTP\/1\.1 202 /);
    expect(text).toMatch(/"refusedCount":1\b/);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * MB);
  });

  it("logs no error when a client disconnects in the middle of a list", async () => {
    const api = await startApi({ logLevel: "error", graceMs: 5_000 });
    const { json } = await api.request("POST", "/v1/jobs", { open: true });
    const socket = await dial(api, post(`/v1/jobs/${json.id}/urls`, "application/x-ndjson", "content-length: 1000000"));
    socket.write("https://a.example/1\nhttps://a.example/2\n");
    await api.request("GET", "/readyz");
    socket.destroy();
    // When the server has answered these requests, it has also seen the disconnect.
    for (let nth = 0; nth < 5; nth += 1) await api.request("GET", "/readyz");

    await api.stop();
    expect(api.logged).toEqual([]);
  });

  it("refuses a hundred thousand headers", async () => {
    const api = await startApi();
    const headers = Array.from({ length: 100_000 }, (_, nth) => `x-${nth}: ${nth}\r\n`);

    const { text } = await sendRaw(api, ["GET /v1/jobs HTTP/1.1\r\nhost: 127.0.0.1\r\n", headers.join(""), "\r\n"]);

    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await api.request("GET", "/readyz")).status).toBe(200);
  });

  it("answers other requests while hundreds of requests never end, and stops without waiting for those", async () => {
    const api = await startApi({ graceMs: 300 });
    const halves = [
      "GET /v1/jobs HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ",
      post("/v1/jobs", "application/json", "content-length: 100"),
    ];
    const sockets = await Promise.all(Array.from({ length: 300 }, (_, nth) => dial(api, halves[nth % 2] ?? "")));

    expect((await api.request("GET", "/v1/jobs")).status).toBe(200);
    await api.stop();
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => (socket.closed ? resolve(0) : socket.once("close", resolve)))),
    );
  });
});

function post(path: string, type: string, length: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: ${type}\r\n${length}\r\n\r\n`;
}

/** `count` chunks of one megabyte of a chunked HTTP/1.1 body, without a line break and without the last chunk. */
function* chunks(count: number): Generator<Buffer> {
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(MB, "a"), Buffer.from("\r\n")]);
  for (let nth = 0; nth < count; nth += 1) yield chunk;
}

/** Sends as fast as the server reads, until everything is sent or a response arrives. `sent` counts the parts. */
async function sendRaw(api: Api, parts: Iterable<string | Buffer>): Promise<{ text: string; sent: number }> {
  const socket = await dial(api);
  let text = "";
  let sent = 0;
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      text += chunk;
      resolve();
    });
    socket.on("close", () => resolve());
  });
  for (const part of parts) {
    if (text !== "" || socket.destroyed) break;
    sent += 1;
    const isBelowLimit = socket.write(part);
    if (!isBelowLimit) await Promise.race([answered, new Promise((resolve) => socket.once("drain", resolve))]);
  }
  await answered;
  socket.destroy();
  return { text, sent };
}

async function dial({ url }: Api, text?: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {}); // the server may close the connection while the test writes
  closeLater(async () => void socket.destroy());
  await new Promise((resolve) => socket.once("connect", resolve));
  if (text !== undefined) socket.write(text);
  return socket;
}
