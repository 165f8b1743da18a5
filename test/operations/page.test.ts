/**
 * Runs the commands of docs/operations.md as written, in a shell, on a Redis with the settings of the page. Only
 * addresses are replaced, and the measurement is shortened. The commands are in `bash` blocks, because readme.test.ts
 * runs all `sh` blocks without a Redis.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { lastJson, trawl } from "../e2e/cli.ts";
import { MAIN } from "../e2e/dist.ts";
import type { Diagnosis } from "../e2e/fleet/fleet.ts";
import { newFolder } from "../e2e/folder.ts";
import type { Summary } from "../e2e/ledger.ts";
import { findProgram } from "../services/debian-programs.mjs";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { withRedis } from "../services/redis-client.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
const COMMANDS = blocks("bash").flatMap((block) => block.split("\n"));
const SETTINGS = blocks("conf").flatMap((block) => block.split("\n"));

const obstacle = findRedisObstacle("redis-server");

describe.skipIf(obstacle !== undefined)(`the page on operations (${obstacle ?? "available"})`, () => {
  let server: RedisServer;
  let folder: string;
  const cleanUps: (() => void)[] = [];
  beforeAll(async () => {
    const args = SETTINGS.map((line) => line.split(" ")).flatMap(([name, ...values]) => [
      `--${name}`,
      values.join(" "),
    ]);
    // With the default delay, a copy for --rdb waits five seconds for other replicas.
    server = await startRedis({ args: [...args, "--repl-diskless-sync-delay", "0"] });
    folder = aClone((clear) => void cleanUps.push(clear));
  });
  afterAll(async () => {
    await server.stop();
    for (const cleanUp of cleanUps) cleanUp();
  });

  async function jobsAt(url: string) {
    const end = await trawl(["jobs", "--json"], { cwd: folder, env: { TRAWL_BROKER: url } });
    // Without times: they depend on the clock of the client.
    return lastJson<{ jobs: Summary[] }>(end).jobs.map(({ id, state, counts }) => ({ id, state, counts }));
  }

  it("has settings without findings of doctor", async () => {
    const end = await trawl(["doctor", "--json"], { cwd: folder, env: { TRAWL_BROKER: server.url } });

    const { findings } = lastJson<Diagnosis>(end);
    expect(findings.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
  });

  it.each(COMMANDS.filter((line) => !line.startsWith("export ")))(
    "contains a command that works: %s",
    async (command) => {
      const { code, output } = await run(command, folder, server.port);

      // No worker runs. Once a job is submitted, doctor reports that, also with its exit code.
      const isFine =
        code === 0 ||
        (command.endsWith("trawl doctor") && output.replace(/\s+/g, " ").includes("trawl worker --queues fetch"));
      expect(isFine, `${command}\n${output}`).toBe(true);
    },
  );

  it("describes how to restore a backup", async () => {
    const env = { TRAWL_BROKER: server.url };
    await trawl(["submit", "http://a.test/", "--json", "--quiet"], { cwd: folder, env });
    const before = await jobsAt(server.url);
    await run("redis-cli -u redis://127.0.0.1:6379 --rdb backup.rdb", folder, server.port);

    const restored = await startRedis({ args: ["--dir", folder, "--dbfilename", "backup.rdb"] });
    onTestFinished(() => restored.stop());
    await withRedis(restored.port, (redis) => redis.config("SET", "appendonly", "yes"));

    expect(before).not.toEqual([]);
    expect(await jobsAt(restored.url)).toEqual(before);
  });
});

/** The text of all blocks of one language. */
function blocks(kind: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)\\n\`\`\`$`, "gm"))].map(([, block = ""]) => block);
}

/** A folder in which npx finds Trawl and the scripts of the repository. */
function aClone(onFinished: (clear: () => void) => void): string {
  const folder = newFolder(onFinished);
  mkdirSync(join(folder, "bin"));
  symlinkSync(join(ROOT, "scripts"), join(folder, "scripts"));
  const npx = join(folder, "bin/npx");
  writeFileSync(npx, `#!/bin/sh\n[ "$1" = trawl ] && shift && exec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(npx, 0o755);
  return folder;
}

async function run(command: string, cwd: string, port: number): Promise<{ code: number | null; output: string }> {
  const line = command
    .replaceAll("127.0.0.1:6379", `127.0.0.1:${port}`)
    .replaceAll("https://books.toscrape.com/", "http://a.test/")
    .replace(/--rounds \d+/, "--rounds 1");
  const found = findProgram("redis-server");
  const tools = dirname(found?.command ?? "");
  const env = {
    ...process.env,
    ...found?.env,
    PATH: `${join(cwd, "bin")}:${tools}:${process.env.PATH}`,
    TRAWL_BROKER: `redis://127.0.0.1:${port}`,
  };
  const shell = spawn("bash", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void shell.kill());
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [code] = (await once(shell, "close")) as [number | null];
  return { code, output };
}
