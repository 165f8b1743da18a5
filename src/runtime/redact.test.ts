import { describe, expect, it } from "vitest";
import { createLog } from "./log.ts";
import { createRedact } from "./redact.ts";

const SECRET = "hunter2-s3cret";

describe("a log line", () => {
  /** The log line with these fields, at level debug. */
  function written(fields: Record<string, unknown>, bound: Record<string, unknown> = {}): string {
    const lines: string[] = [];
    createLog("debug", (line) => lines.push(line))
      .child(bound)
      .debug("test.event", fields);
    return lines.join("");
  }

  it.each([
    ["the password of a broker", { broker: `redis://fleet:${SECRET}@redis.test:6379/0` }],
    ["a password without a user", { broker: `rediss://:${SECRET}@redis.test` }],
    ["a password that is not percent-encoded", { broker: `redis://u:a@b/${SECRET}@redis.test` }],
    ["the password of a store", { store: `postgres://trawl:${SECRET}@db.test/trawl?sslmode=on` }],
    ["a password in an error", { cause: new Error(`connect redis+cluster://u:${SECRET}@a.test:1,b.test:2 failed`) }],
    ["credentials in a web URL", { url: `https://me:${SECRET}@a.test/x` }],
    ["credentials in a URL inside a text", { detail: `redirected to http://${SECRET}@a.test/, which failed` }],
    ["a key in a URL", { url: `https://a.test/feed?page=2&api_key=${SECRET}&x=1` }],
    ["an access token in a URL", { url: `https://a.test/?access_token=${SECRET}#top` }],
    ["headers of a job", { headers: { Authorization: `Bearer ${SECRET}`, accept: "text/html" } }],
    ["a cookie", { headers: { cookie: `session=${SECRET}`, "Set-Cookie": [`id=${SECRET}`] } }],
    ["a key in a header", { headers: { "X-API-Key": SECRET } }],
    ["API keys of a configuration", { config: { apiKeys: [SECRET], api_key: SECRET, "api-key": SECRET } }],
    ["the secret of a webhook", { detail: `signed with whsec_${SECRET}AbCdEfGhIjKlMnOp= here` }],
    ["a key of our own API", { detail: `there is no key trawl_${SECRET}AbCdEfGhIjKlMnOp here` }],
    ["a password in a field", { password: SECRET, passwd: SECRET, client_secret: SECRET, token: SECRET }],
    ["a header in a text", { detail: `sent Authorization: Basic ${SECRET} and got 401` }],
    ["a bearer in a text", { detail: `the header "Bearer ${SECRET}" was refused` }],
    ["a cookie in a text", { detail: `Cookie: a=1; b=${SECRET}` }],
    ["secrets in nested values", { a: [{ b: { c: [{ password: SECRET, url: `ftp://u:${SECRET}@h/` }] } }] }],
  ])("masks %s", (_, fields) => {
    expect(written(fields)).not.toContain(SECRET);
    expect(written({}, fields)).not.toContain(SECRET);
    expect(written(fields)).toContain("***");
  });

  it("masks the known secrets of the process in every field", () => {
    const lines: string[] = [];
    const log = createLog("warn", (line) => lines.push(line), [SECRET, ""]);

    log.child({ note: `a ${SECRET} b` }).warn("test.event", { list: [`x${SECRET}x`], cause: new Error(SECRET) });

    expect(lines.join()).not.toContain(SECRET);
  });

  it("does not change values that are not secret", () => {
    const fields = {
      url: "https://a.test/@name/key?page=2&keyword=token&tokens=3",
      token: 7,
      broker: "sqlite:/home/a@b/broker.db",
      detail: "basic auth is asked for; a cookie was set",
      at: "me@a.test wrote",
    };

    expect(JSON.parse(written(fields))).toMatchObject(fields);
  });

  it("cuts off circular values", () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;

    expect(written(circle)).toContain("…");
  });
});

describe("a child log", () => {
  it("adds its fields to those of its parent in every line, and writes at the same level", () => {
    const lines: string[] = [];
    const log = createLog("info", (line) => lines.push(line)).child({ workerId: "w" });
    const child = log.child({ taskId: "7", attempt: 1 });

    child.debug("not.written");
    child.info("task.retry", { attempt: 2 });

    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        at: expect.any(String),
        level: "info",
        event: "task.retry",
        workerId: "w",
        taskId: "7",
        attempt: 2,
      },
    ]);
    expect([child.isOn("debug"), child.isOn("info")]).toEqual([false, true]);
  });
});

describe("text for output", () => {
  it("is masked like log fields", () => {
    const { text } = createRedact([]);

    expect(text("http://u:p@a.test/?sig=abc")).toBe("http://***@a.test/?sig=***");
  });
});
