import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { findPostgresObstacle, startPostgres } from "./postgres.ts";
import { waitUntil } from "./wait-until.ts";

const obstacle = findPostgresObstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: tests on PostgreSQL: ${obstacle}`);

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

describe.skipIf(obstacle !== undefined)("startPostgres", () => {
  it("gives a server on loopback that is not root's, and keeps every answered write over a crash", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const { pid } = server;
    expect(statSync(`/proc/${pid}`).uid).not.toBe(0);
    expect(await server.talk((sql) => sql`SHOW listen_addresses`)).toMatchObject([{ listen_addresses: "127.0.0.1" }]);
    await server.talk((sql) => sql.unsafe("CREATE TABLE kept (n integer); INSERT INTO kept VALUES (1)"));

    await server.kill();
    expect(isAlive(pid)).toBe(false);
    await server.restart();

    expect(server.pid).not.toBe(pid);
    expect(await server.talk((sql) => sql`SELECT n FROM kept`)).toMatchObject([{ n: 1 }]);
  });

  it("says what the server complained about when it does not start", async () => {
    await expect(startPostgres({ settings: { max_connections: "plenty" } })).rejects.toThrow(
      /did not start on port[\s\S]*max_connections/,
    );
  });

  it("stops twice without harm, and leaves no process behind", async () => {
    const server = await startPostgres();

    await server.stop();
    await server.stop();

    expect(isAlive(server.pid)).toBe(false);
  });

  it("ends the server, and clears its folder, when the process that started it is killed", async () => {
    const script = fileURLToPath(new URL("./hold-postgres.mjs", import.meta.url));
    const holder = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(createInterface(holder.stdout), "line")) as [string];
    const { pid, folder } = JSON.parse(line) as { pid: number; folder: string };
    expect(isAlive(pid)).toBe(true);

    holder.kill("SIGKILL");

    expect(await waitUntil(() => !isAlive(pid) && !existsSync(folder), 20_000)).toBe(true);
  });
});
