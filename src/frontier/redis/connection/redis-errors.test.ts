import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Client, LOST_CONTACT_ERRORS, type Probe } from "./ioredis.ts";
import { describeError, diagnose, watchConnectionErrors } from "./redis-errors.ts";

const STREAM = new Error("Stream isn't writeable and enableOfflineQueue options is false");

describe("error texts of an unreachable broker", () => {
  it("match the messages of the installed version of the client library", () => {
    const folder = dirname(createRequire(import.meta.url).resolve("ioredis"));
    const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".js"))
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
    const otherMessages = [
      "connect ETIMEDOUT",
      'Error("timeout")',
      "Reached the max retries per request limit",
      "Last error: ",
    ];

    const known = [...LOST_CONTACT_ERRORS, ...otherMessages, "Ready check failed: "];

    expect(known.filter((message) => !source.includes(message))).toEqual([]);
  });

  it.each([
    ["connect ECONNREFUSED 127.0.0.1:1", "nothing listens at 127.0.0.1:1 (ECONNREFUSED)"],
    ["getaddrinfo ENOTFOUND nobody.invalid", "the host name nobody.invalid cannot be resolved (ENOTFOUND)"],
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
  ])("replace the message of the library: %s", (message, meaning) => {
    expect(describeError(new Error(message))).toBe(meaning);
  });

  it("are those of a cluster node until that node is ready again, on any connection", () => {
    const cluster = new EventEmitter();
    const connectionError = watchConnectionErrors(cluster as Client);
    const join = (port: number) => {
      const node = Object.assign(new EventEmitter(), { options: { host: "h", port } });
      cluster.emit("+node", node);
      return node;
    };
    const [one, other] = [join(1), join(2)];
    one.emit("error", new Error("connect ECONNREFUSED h:1"));

    other.emit("ready");
    expect(connectionError()?.message).toBe("connect ECONNREFUSED h:1");
    join(1).emit("ready");
    expect(connectionError()).toBeUndefined();
  });

  it("are based on a probe of the server if the library gives no reason", async () => {
    const nodes = [{ host: "h", port: 1 }];
    const tls = { ca: "", cert: "", key: "" };
    const at = (plain: "answers" | "silent" | Error, behindTls: "answers" | "silent"): Probe => {
      return async (_, how) => (how === "plain" ? plain : behindTls);
    };
    const refused = new Error("connect ECONNREFUSED h:1");

    expect(await diagnose({ nodes, tls }, STREAM, at("answers", "silent"))).toMatch(/^h:1 does not use TLS/);
    expect(await diagnose({ nodes, tls: undefined }, STREAM, at("silent", "answers"))).toMatch(/^h:1 uses TLS/);
    expect(await diagnose({ nodes, tls: undefined }, STREAM, at("silent", "silent"))).toMatch(/does not answer$/);
    expect(await diagnose({ nodes, tls: undefined }, STREAM, at(refused, "silent"))).toMatch(/^nothing listens at h:1/);
    expect(await diagnose({ nodes, tls }, new Error("certificate has expired"), at("silent", "answers"))).toBe(
      "certificate has expired",
    );
  });
});
