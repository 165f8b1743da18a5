import { describe, expect, it } from "vitest";
import { isTrawlError } from "../../../errors.ts";
import { findRedisScheme, parseRedisUrl } from "./connection-url.ts";

describe("parseRedisUrl", () => {
  it("parses one server, with defaults", () => {
    expect(parseRedisUrl("redis://broker.internal")).toMatchObject({
      kind: "single",
      nodes: [{ host: "broker.internal", port: 6379 }],
      master: "",
      database: 0,
      username: "",
      password: "",
      tls: undefined,
      redacted: "redis://broker.internal:6379",
    });
    expect(parseRedisUrl("rediss://10.0.0.1:7000/3")).toMatchObject({ tls: { ca: "" }, database: 3 });
    expect(parseRedisUrl("redis://[::1]:7000/")).toMatchObject({ nodes: [{ host: "::1", port: 7000 }], database: 0 });
  });

  it("parses a cluster and sentinels", () => {
    expect(parseRedisUrl("redis+cluster://a:1,b:2,c")).toMatchObject({
      kind: "cluster",
      nodes: [
        { host: "a", port: 1 },
        { host: "b", port: 2 },
        { host: "c", port: 6379 },
      ],
    });
    expect(parseRedisUrl("rediss+sentinel://a,b:2/main/4")).toMatchObject({
      kind: "sentinel",
      tls: { ca: "", cert: "", key: "" },
      nodes: [
        { host: "a", port: 26379 },
        { host: "b", port: 2 },
      ],
      master: "main",
      database: 4,
    });
  });

  it("parses user and password, encoded or not, and shows neither", () => {
    const cases: [string, string, string][] = [
      ["redis://user:pass@h", "user", "pass"],
      ["redis://:pass@h", "", "pass"],
      ["redis://user@h", "user", ""],
      ["redis://:p%40ss%3Aword@h", "", "p@ss:word"],
      ["redis://u:100%@h", "u", "100%"],
      ["redis://u:p@ss@h", "u", "p@ss"],
      ["redis+cluster://u:secret@a,b", "u", "secret"],
    ];
    for (const [url, username, password] of cases) {
      const parsed = parseRedisUrl(url);
      expect(parsed, url).toMatchObject({ username, password });
      expect(parsed.redacted).not.toMatch(/pass|secret|100%|@/);
    }
  });

  it("refuses an invalid URL, with the fix and without the password", () => {
    const wrong = [
      "",
      "localhost:6379",
      "http://localhost",
      "redis://",
      "redis://:secret@",
      "redis://h:0",
      "redis://h:99999",
      "redis://h:port",
      "redis://u:secret@h/db",
      "redis://h/-1",
      "redis://h/1/2",
      "redis+cluster://h/1",
      "redis+sentinel://u:secret@h",
      "redis+sentinel://h/",
      "constructor://h",
    ];
    for (const url of wrong) {
      let caught: unknown;
      try {
        parseRedisUrl(url);
      } catch (error) {
        caught = error;
      }
      expect(isTrawlError(caught, "BAD_CONFIG"), url).toBe(true);
      expect((caught as Error).message).toMatch(/TRAWL_BROKER.*redis:\/\/host:6379/);
      expect((caught as Error).message).not.toContain("secret");
    }
  });
});

it("does not accept an inherited property name as a scheme", () => {
  expect(findRedisScheme("REDIS+cluster://h")).toMatchObject({ kind: "cluster" });
  for (const url of ["constructor:x", "toString:x", "valueOf://h"]) expect(findRedisScheme(url), url).toBeUndefined();
});

it.each(["redis://user:s3cr/et@host:6379/0", "redis://user:12/34s3cret@host", "redis://u:s3c@r/et@host:1"])(
  "accepts an unencoded password, and shows none of it: %s",
  (url) => {
    const { redacted, nodes } = parseRedisUrl(url);

    expect(nodes[0]?.host).toBe("host");
    expect(redacted).not.toMatch(/s3c|34/);
  },
);
