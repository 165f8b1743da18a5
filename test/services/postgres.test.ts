import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { isRunning } from "./is-running.ts";
import { findPostgresObstacle, startPostgres } from "./postgres.ts";
import { waitUntil } from "./wait-until.ts";

const obstacle = findPostgresObstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: tests on PostgreSQL: ${obstacle}`);

describe.skipIf(obstacle !== undefined)("startPostgres", () => {
  it("starts a server on loopback, not as root, that keeps every acknowledged write after a crash", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const { pid } = server;
    expect(statSync(`/proc/${pid}`).uid).not.toBe(0);
    expect(await server.query((sql) => sql`SHOW listen_addresses`)).toMatchObject([{ listen_addresses: "127.0.0.1" }]);
    await server.query((sql) => sql.unsafe("CREATE TABLE kept (n integer); INSERT INTO kept VALUES (1)"));

    await server.kill();
    expect(isRunning(pid)).toBe(false);
    await server.restart();

    expect(server.pid).not.toBe(pid);
    expect(await server.query((sql) => sql`SELECT n FROM kept`)).toMatchObject([{ n: 1 }]);
  });

  it("throws the log of a server that does not start", async () => {
    await expect(startPostgres({ settings: { max_connections: "plenty" } })).rejects.toThrow(
      /did not start on port[\s\S]*max_connections/,
    );
  });

  it("can be stopped twice, and leaves no process behind", async () => {
    const server = await startPostgres();

    await server.stop();
    await server.stop();

    expect(isRunning(server.pid)).toBe(false);
  });

  it("ends the server and removes its folder when the process that started it is killed", async () => {
    const script = fileURLToPath(new URL("./hold-postgres.mjs", import.meta.url));
    const holder = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface(holder.stdout), "line")) as [string];
    const { pid, folder } = JSON.parse(line) as { pid: number; folder: string };
    expect(isRunning(pid)).toBe(true);

    holder.kill("SIGKILL");

    expect(await waitUntil(() => !isRunning(pid) && !existsSync(folder), 20_000)).toBe(true);
  });
});
