import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Cluster, Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { isRunning } from "./is-running.ts";
import { findRedisObstacle, type RedisOptions, type RedisServer, startRedis } from "./redis.ts";
import { answersPing } from "./redis-client.ts";
import { startCluster } from "./redis-cluster.ts";
import { waitUntil } from "./wait-until.ts";

async function serverFor(options?: RedisOptions): Promise<RedisServer> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

function clientOf(server: RedisServer): Redis {
  const client = new Redis(server.url);
  client.on("error", () => undefined); // it reconnects
  onTestFinished(() => client.disconnect());
  return client;
}

for (const program of ["redis-server", "valkey-server"] as const) {
  const obstacle = findRedisObstacle(program);
  if (obstacle !== undefined) console.warn(`SKIPPED: tests on ${program}: ${obstacle}`);

  describe.skipIf(obstacle !== undefined)(`startRedis with ${program}`, () => {
    it("starts a server that accepts commands on loopback", async () => {
      const server = await serverFor({ program });
      const client = clientOf(server);

      expect(await client.set("a", "1")).toBe("OK");
      expect(await client.config("GET", "bind")).toEqual(["bind", "127.0.0.1"]);
      expect(await client.info("server")).toMatch(
        program === "redis-server" ? /^redis_version:/m : /^valkey_version:/m,
      );
    });

    it("keeps every acknowledged write after a kill with appendfsync always", async () => {
      const server = await serverFor({ program, appendonly: "always" });
      const client = clientOf(server);
      await client.set("a", "1");
      const { pid } = server;

      await server.kill();
      expect(await answersPing(server.port)).toBe(false);
      await server.restart();

      expect(server.pid).not.toBe(pid);
      expect(await client.get("a")).toBe("1");
    });

    it("starts empty after a restart without an append-only file", async () => {
      const server = await serverFor({ program });
      await clientOf(server).set("a", "1");

      await server.restart();

      expect(await clientOf(server).get("a")).toBeNull();
    });

    it("starts a cluster that serves every slot, also after the restart of a node", async () => {
      const cluster = await startCluster({ nodes: 3, program, appendonly: "always" });
      onTestFinished(() => cluster.stop());
      const client = new Cluster(cluster.nodes.map(({ port }) => ({ host: "127.0.0.1", port })));
      client.on("error", () => undefined);
      onTestFinished(() => client.disconnect());
      const keys = Array.from({ length: 300 }, (_, n) => `key-${n}`);
      await Promise.all(keys.map((key) => client.set(key, key)));

      await cluster.nodes[1]?.restart();
      await cluster.waitUntilWhole();

      expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys);
      expect(cluster.url).toMatch(/^redis\+cluster:\/\/127\.0\.0\.1:\d+,127\.0\.0\.1:\d+,127\.0\.0\.1:\d+$/);
    });
  });
}

describe.skipIf(findRedisObstacle("redis-server") !== undefined)("startRedis", () => {
  it("throws the log of a server that does not start", async () => {
    await expect(startRedis({ args: ["--maxmemory", "plenty"] })).rejects.toThrow(/did not start on port/);
  });

  it("can be stopped twice, and leaves no process behind", async () => {
    const server = await startRedis();

    await server.stop();
    await server.stop();

    expect(isRunning(server.pid)).toBe(false);
  });

  it("ends the server and removes its folder when the process that started it is killed", async () => {
    const script = fileURLToPath(new URL("./hold-redis.mjs", import.meta.url));
    const holder = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface(holder.stdout), "line")) as [string];
    const { pid, folder } = JSON.parse(line) as { pid: number; folder: string };
    expect(isRunning(pid)).toBe(true);

    holder.kill("SIGKILL");

    expect(await waitUntil(() => !isRunning(pid) && !existsSync(folder), 10_000)).toBe(true);
  });
});
