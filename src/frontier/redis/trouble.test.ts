import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Client, type Probe, SAID_BY_LIBRARY } from "./connect.ts";
import { createTroubleEar, diagnose, troubleWords } from "./trouble.ts";

const STREAM = new Error("Stream isn't writeable and enableOfflineQueue options is false");

describe("words for a broker that is out of reach", () => {
  it("are looked for in what this very version of the client library says", () => {
    const folder = dirname(createRequire(import.meta.url).resolve("ioredis"));
    const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".js"))
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
    const worded = [
      "connect ETIMEDOUT",
      'Error("timeout")',
      "Reached the max retries per request limit",
      "Last error: ",
    ];

    const known = [...SAID_BY_LIBRARY, ...worded, "Ready check failed: "];

    expect(known.filter((words) => !source.includes(words))).toEqual([]);
  });

  it.each([
    ["connect ECONNREFUSED 127.0.0.1:1", "nobody listens at 127.0.0.1:1 (ECONNREFUSED)"],
    ["getaddrinfo ENOTFOUND nobody.invalid", "the name nobody.invalid leads nowhere (ENOTFOUND)"],
    ["connect ETIMEDOUT", "no connection within 5 s"],
    ["Command timed out", "no answer within 5 s"],
    [STREAM.message, "there is no connection"],
    ["Connection is closed.", "there is no connection"],
    ["All sentinels are unreachable. Retrying from scratch after 984.6ms.", "there is no connection"],
    [
      "All sentinels are unreachable. Retrying from scratch after 98.6ms. Last error: ERR No such master with that name",
      "the sentinels know no master of that name",
    ],
    ["self-signed certificate in certificate chain", "self-signed certificate in certificate chain"],
  ])("are ours: %s", (message, words) => {
    expect(troubleWords(new Error(message))).toBe(words);
  });

  it("are of a cluster's node until that one is back, under whatever connection", () => {
    const cluster = new EventEmitter();
    const trouble = createTroubleEar(cluster as Client);
    const join = (port: number) => {
      const node = Object.assign(new EventEmitter(), { options: { host: "h", port } });
      cluster.emit("+node", node);
      return node;
    };
    const [one, other] = [join(1), join(2)];
    one.emit("error", new Error("connect ECONNREFUSED h:1"));

    other.emit("ready");
    expect(trouble()?.message).toBe("connect ECONNREFUSED h:1");
    join(1).emit("ready");
    expect(trouble()).toBeUndefined();
  });

  it("come from a look at the server where the library does not know", async () => {
    const nodes = [{ host: "h", port: 1 }];
    const tls = { ca: "", cert: "", key: "" };
    const at = (plain: "answers" | "silent" | Error, behindTls: "answers" | "silent"): Probe => {
      return async (_, how) => (how === "plain" ? plain : behindTls);
    };
    const refused = new Error("connect ECONNREFUSED h:1");

    expect(await diagnose({ nodes, tls }, STREAM, at("answers", "silent"))).toMatch(/^h:1 does not speak TLS/);
    expect(await diagnose({ nodes, tls: undefined }, STREAM, at("silent", "answers"))).toMatch(/^h:1 speaks TLS/);
    expect(await diagnose({ nodes, tls: undefined }, STREAM, at("silent", "silent"))).toMatch(/does not answer$/);
    expect(await diagnose({ nodes, tls: undefined }, STREAM, at(refused, "silent"))).toMatch(/^nobody listens at h:1/);
    expect(await diagnose({ nodes, tls }, new Error("certificate has expired"), at("silent", "answers"))).toBe(
      "certificate has expired",
    );
  });
});
