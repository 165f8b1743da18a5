import { EventEmitter, once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { type Handler, type Origin, type OriginOptions, type Routes, startOrigin } from "./origin.ts";

const open: Origin[] = [];

async function start(content: Handler | Routes, options?: OriginOptions): Promise<Origin> {
  const origin = await startOrigin(content, options);
  open.push(origin);
  return origin;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((origin) => origin.close()));
});

describe("origin", () => {
  it("serves strings as HTML, replies, handlers, and 404 for other paths", async () => {
    const origin = await start({
      "/": "<h1>Home</h1>",
      "/gone": { status: 410, headers: { "content-type": "text/plain" }, body: "gone" },
      "/teapot": (_, response) => void response.writeHead(418).end(),
    });

    const home = await fetch(`${origin.url}/?q=1`);
    expect(home.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await home.text()).toBe("<h1>Home</h1>");
    const gone = await fetch(`${origin.url}/gone`);
    expect([gone.status, gone.headers.get("content-type"), await gone.text()]).toEqual([410, "text/plain", "gone"]);
    expect((await fetch(`${origin.url}/teapot`)).status).toBe(418);
    expect((await fetch(`${origin.url}/constructor`)).status).toBe(404);
  });

  it("logs arrival, end, path, headers, status and socket of every request", async () => {
    const origin = await start({ "/": "hello" });
    await fetch(`${origin.url}/?a`, { headers: { "user-agent": "tester" } }).then((reply) => reply.text());
    await fetch(`${origin.url}/nope`).then((reply) => reply.text());

    const [first, second] = origin.log;
    expect(first).toMatchObject({ id: 0, method: "GET", path: "/?a", status: 200, socket: 1 });
    expect(first?.headers["user-agent"]).toBe("tester");
    expect(second).toMatchObject({ id: 1, path: "/nope", status: 404 });
    expect(first?.endedAt).toBeGreaterThanOrEqual(first?.arrivedAt ?? Number.POSITIVE_INFINITY);
    expect(Math.abs((first?.arrivedAt ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it("ends a request whose client has disconnected with status 0", async () => {
    const controller = new AbortController();
    const events = new EventEmitter();
    const ended = once(events, "end");
    const origin = await start(() => controller.abort(), { onEnd: () => events.emit("end") });

    await expect(fetch(origin.url, { signal: controller.signal })).rejects.toThrow("aborted");
    await ended;

    expect(origin.log[0]).toMatchObject({ status: 0, endedAt: expect.any(Number) });
  });

  it("answers 500 if a handler throws or rejects", async () => {
    const origin = await start({
      "/throws": () => {
        throw new Error("no");
      },
      "/rejects": () => Promise.reject(new Error("no")),
    });

    expect((await fetch(`${origin.url}/throws`)).status).toBe(500);
    expect((await fetch(`${origin.url}/rejects`)).status).toBe(500);
  });

  it("resolves waits for requests, and rejects them if it closes first", async () => {
    const origin = await start({ "/": "hello" });
    const two = origin.waitForRequests(2);
    const ten = origin.waitForRequests(10);
    await Promise.all([fetch(origin.url), fetch(origin.url)]);
    await two;
    await origin.waitForRequests(1);

    const refused = expect(ten).rejects.toThrow("after 2 of 10");
    await origin.close();
    await refused;
    await origin.close();
  });
});
