/**
 * Starts real Redis and Valkey servers for tests, on loopback, each with its own folder and port. Start one per test
 * file and give every test its own key prefix. A server ends with the process that started it, even after SIGKILL.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, type ProgramName } from "./debian-programs.mjs";
import { findFreePort } from "./free-port.ts";
import { answersPing } from "./redis-client.ts";
import { waitUntil } from "./wait-until.ts";

export type RedisOptions = {
  program?: ProgramName;
  /** When Redis syncs a write to disk. With "no", the default, a restarted server is empty. */
  appendonly?: "always" | "everysec" | "no";
  /** Further arguments: `["--maxmemory", "50mb"]`. */
  args?: readonly string[];
  /** Starts a sentinel, which monitors no server yet. */
  sentinel?: boolean;
};

export type RedisServer = {
  url: string;
  port: number;
  /** Changes with a restart. */
  readonly pid: number;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Kills the server if it runs, and starts it with the same folder and port. Resolves when it answers PING. */
  restart(): Promise<void>;
  /** Ends the server and removes its folder. A second call does nothing. */
  stop(): Promise<void>;
};

type Launch = { command: string; env: Record<string, string>; args: readonly string[]; folder: string; port: number };

/** Loading a long append-only file takes time. A server that cannot start ends at once. */
const START_MS = 30_000;
/** Another process may take a free port before the server binds it. */
const ATTEMPTS = 5;

/** Why this program cannot be started here; undefined if it can. */
export function findRedisObstacle(program: ProgramName): string | undefined {
  return findProgram(program) === undefined
    ? `${program} is neither installed nor fetched; npm test fetches it if it can`
    : undefined;
}

/** Resolves when the server answers PING. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const { program = "redis-server" } = options;
  const found = findProgram(program);
  if (found === undefined) throw new Error(findRedisObstacle(program));
  const folder = mkdtempSync(join(tmpdir(), "trawl-redis-"));
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort();
    const launch = { ...found, args: argsFor(options, folder, port), folder, port };
    try {
      return serverOf(launch, await run(launch));
    } catch (cause) {
      const isTaken = readLog(folder).includes("Address already in use");
      if (isTaken && attempt < ATTEMPTS) continue;
      rmSync(folder, { recursive: true, force: true });
      throw cause;
    }
  }
}

function serverOf(launch: Launch, first: ChildProcess): RedisServer {
  let running = first;
  return {
    url: `redis://127.0.0.1:${launch.port}`,
    port: launch.port,
    get pid() {
      return pidOf(running);
    },
    kill: () => end(running),
    async restart() {
      await end(running);
      running = await run(launch);
    },
    async stop() {
      // SIGKILL: no last save is needed, and it also ends a server that a test has suspended.
      await end(running);
      rmSync(launch.folder, { recursive: true, force: true });
    },
  };
}

function argsFor({ appendonly = "no", args = [], sentinel }: RedisOptions, folder: string, port: number): string[] {
  if (sentinel === true) return sentinelArgs(folder, port, args);
  const durability = appendonly === "no" ? [] : ["--appendonly", "yes", "--appendfsync", appendonly];
  const files = ["--dir", folder, "--logfile", join(folder, "server.log"), "--save", ""];
  return ["--bind", "127.0.0.1", "--port", String(port), "--daemonize", "no", ...files, ...durability, ...args];
}

/** A sentinel stores its state in its configuration, so that must be a file. */
function sentinelArgs(folder: string, port: number, args: readonly string[]): string[] {
  const file = join(folder, "sentinel.conf");
  writeFileSync(file, `bind 127.0.0.1\nport ${port}\ndir ${folder}\nlogfile ${join(folder, "server.log")}\n`);
  return [file, "--sentinel", ...args];
}

/** Starts the process and waits until it answers. */
async function run({ command, env, args, folder, port }: Launch): Promise<ChildProcess> {
  const server = spawn(command, args, { env: { ...process.env, ...env }, stdio: "ignore" });
  await once(server, "spawn");
  guard(server, folder);
  server.unref();
  const isUp = async () => hasEnded(server) || (await answersPing(port));
  const isInTime = await waitUntil(isUp, START_MS);
  if (isInTime && !hasEnded(server)) return server;
  const log = readLog(folder);
  await end(server);
  throw new Error(`${command} did not start on port ${port}:\n${log.slice(-2_000)}`);
}

/**
 * Starts a shell that waits until its stdin is closed. That happens when this process ends, even after SIGKILL. The
 * shell then kills the server and removes its folder. If the server ends first, this process kills the shell: another
 * process may get the same pid later.
 */
function guard(server: ChildProcess, folder: string): void {
  const script = 'read -r _; kill -9 "$1" 2>/dev/null; rm -rf "$2"';
  // In its own session, the guard does not get Ctrl-C, which goes to the whole process group of this process.
  const args = ["-c", script, "guard", String(pidOf(server)), folder];
  const shell = spawn("/bin/sh", args, { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.unref();
  // Stays open as long as this process runs, but does not keep it running.
  (shell.stdin as unknown as { unref(): void }).unref();
  server.once("exit", () => shell.kill("SIGKILL"));
}

async function end(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return;
  server.ref();
  const ended = once(server, "exit");
  server.kill("SIGKILL");
  await ended;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error("the process was never started");
  return pid;
}

function readLog(folder: string): string {
  try {
    return readFileSync(join(folder, "server.log"), "utf8");
  } catch {
    return ""; // the server wrote nothing
  }
}
