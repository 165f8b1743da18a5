/**
 * Real Redis and Valkey servers for tests, on loopback, each with a folder and a port of its own. Start one for a file
 * of tests and give every test its own key prefix. A server ends with the process that started it, however that ends.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, type ProgramName } from "./debian-programs.mjs";
import { takeFreePort } from "./free-port.ts";
import { answersPing } from "./redis-talk.ts";
import { waitUntil } from "./wait-until.ts";

export type RedisOptions = {
  program?: ProgramName;
  /** When a write is on disk; "no", the default, keeps nothing over a restart. */
  appendonly?: "always" | "everysec" | "no";
  /** More settings as on the command line: `["--maxmemory", "50mb"]`. */
  args?: readonly string[];
  /** Not a server for keys but a sentinel, which watches nobody yet. */
  sentinel?: boolean;
};

export type RedisServer = {
  url: string;
  port: number;
  /** Changes with every restart. */
  readonly pid: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Kills it if it runs, and starts it on the same folder and port; resolves when it answers PING. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. Stopping twice is harmless. */
  stop(): Promise<void>;
};

type Launch = { command: string; env: Record<string, string>; words: readonly string[]; folder: string; port: number };

/** Loading a long append-only file takes a while; a server that cannot start ends at once instead. */
const START_MS = 30_000;
/** Between looking for a free port and binding it, somebody else may take it. */
const ATTEMPTS = 5;

/** Why servers of this program cannot be started here; undefined if they can. */
export function findRedisObstacle(program: ProgramName): string | undefined {
  return findProgram(program) === undefined
    ? `${program} is neither installed nor fetched; npm test fetches it where it can`
    : undefined;
}

/** Resolves when the server answers PING. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const { program = "redis-server" } = options;
  const found = findProgram(program);
  if (found === undefined) throw new Error(findRedisObstacle(program));
  const folder = mkdtempSync(join(tmpdir(), "trawl-redis-"));
  for (let attempt = 1; ; attempt++) {
    const port = await takeFreePort();
    const launch = { ...found, words: wordsFor(options, folder, port), folder, port };
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
      // Without asking for a last save: the folder goes too. And it ends a server that a test has suspended.
      await end(running);
      rmSync(launch.folder, { recursive: true, force: true });
    },
  };
}

function wordsFor({ appendonly = "no", args = [], sentinel }: RedisOptions, folder: string, port: number): string[] {
  if (sentinel === true) return sentinelWords(folder, port, args);
  const durability = appendonly === "no" ? [] : ["--appendonly", "yes", "--appendfsync", appendonly];
  const files = ["--dir", folder, "--logfile", join(folder, "server.log"), "--save", ""];
  return ["--bind", "127.0.0.1", "--port", String(port), "--daemonize", "no", ...files, ...durability, ...args];
}

/** A sentinel keeps what it learns in its configuration: it must be a file. */
function sentinelWords(folder: string, port: number, args: readonly string[]): string[] {
  const file = join(folder, "sentinel.conf");
  writeFileSync(file, `bind 127.0.0.1\nport ${port}\ndir ${folder}\nlogfile ${join(folder, "server.log")}\n`);
  return [file, "--sentinel", ...args];
}

/** Starts the process and waits until it serves. */
async function run({ command, env, words, folder, port }: Launch): Promise<ChildProcess> {
  const server = spawn(command, words, { env: { ...process.env, ...env }, stdio: "ignore" });
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
 * A shell that waits for the end of this process, which closes its standard input, also when nobody gets to run a
 * handler. Then it ends the server and removes what it left. The server's own end ends the guard first: the number of
 * a process that has gone may become another's.
 */
function guard(server: ChildProcess, folder: string): void {
  const script = 'read -r _; kill -9 "$1" 2>/dev/null; rm -rf "$2"';
  // In a session of its own: Ctrl-C reaches the whole group, and must not take the guard before the server.
  const words = ["-c", script, "guard", String(pidOf(server)), folder];
  const shell = spawn("/bin/sh", words, { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.unref();
  // Held open by this process, and yet no reason for it to stay.
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
    return ""; // it ended before it wrote anything
  }
}
