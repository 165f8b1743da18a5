/**
 * Real PostgreSQL servers for tests: a folder and a port of their own on loopback, gone with the process that started
 * them, however that ends. PostgreSQL does not run as root: where the tests do, it is `nobody`.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { findPostgres, type Program } from "./debian-programs.mjs";
import { takeFreePort } from "./free-port.ts";
import { waitUntil } from "./wait-until.ts";

export type PostgresOptions = {
  /** More settings: `{ max_connections: "5" }`. */
  settings?: Readonly<Record<string, string>>;
  /** PEM files of the server: it takes TLS as well then. */
  tls?: { cert: string; key: string };
};

export type PostgresServer = {
  /** With user and password, to the database `trawl`. */
  url: string;
  port: number;
  password: string;
  /** Changes with every restart. */
  readonly pid: number;
  /** One conversation as the owner of the server, on a connection of its own. */
  talk<T>(conversation: (sql: postgres.Sql) => Promise<T>): Promise<T>;
  /** At once and without a checkpoint, as in a crash; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Kills it if it runs, and starts it on the same folder and port; resolves when it answers. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. Stopping twice is harmless. */
  stop(): Promise<void>;
};

type Launch = {
  program: Program;
  words: readonly string[];
  folder: string;
  port: number;
  owner: Owner | undefined;
};
type Owner = { uid: number; gid: number };

const START_MS = 60_000;
const END_MS = 20_000;
/** Between looking for a free port and binding it, somebody else may take it. */
const ATTEMPTS = 5;
const USER = "trawl";
const DATABASE = "trawl";
/** Always there. */
const MAINTENANCE = "postgres";
/** Has what a URL must encode, and what an error message must not show. */
const PASSWORD = "s3cret/p@ss word";

/** What a test server can do without: nobody pulls its plug. A crash of its processes alone loses nothing. */
const UNSAFE = { fsync: "off", full_page_writes: "off" };

/** Why servers cannot be started here; undefined if they can. */
export function findPostgresObstacle(): string | undefined {
  if (findPostgres() === undefined)
    return "postgres is neither installed nor fetched; npm test fetches it where it can";
  if (process.getuid?.() === 0 && findNobody() === undefined) return "this is root, and there is no user nobody";
  return undefined;
}

/** Resolves when the server answers. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const found = findPostgres();
  if (found === undefined) throw new Error(findPostgresObstacle());
  const owner = process.getuid?.() === 0 ? findNobody() : undefined;
  const folder = mkdtempSync(join(tmpdir(), "trawl-postgres-"));
  try {
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
    const program = reachable(found, folder, owner);
    initialise(program, folder, owner);
    const tls = options.tls === undefined ? {} : copyTls(options.tls, folder, owner);
    const settings = { ...UNSAFE, ...tls, ...options.settings };
    for (let attempt = 1; ; attempt++) {
      const port = await takeFreePort();
      const launch = { program, words: wordsFor(settings, folder, port), folder, port, owner };
      try {
        const server = serverOf(launch, await run(launch));
        await talkTo(port, MAINTENANCE, (sql) => sql.unsafe(`CREATE DATABASE ${DATABASE}`));
        return server;
      } catch (cause) {
        const isTaken = readLog(folder).includes("Address already in use");
        if (!isTaken || attempt >= ATTEMPTS) throw cause;
      }
    }
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw cause;
  }
}

function serverOf(launch: Launch, first: ChildProcess): PostgresServer {
  let running = first;
  const { port } = launch;
  return {
    url: `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${DATABASE}`,
    port,
    password: PASSWORD,
    get pid() {
      return pidOf(running);
    },
    talk: (conversation) => talkTo(port, DATABASE, conversation),
    kill: () => end(running),
    async restart() {
      await end(running);
      running = await run(launch);
    },
    async stop() {
      await end(running);
      rmSync(launch.folder, { recursive: true, force: true });
    },
  };
}

async function talkTo<T>(port: number, database: string, conversation: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const address = { host: "127.0.0.1", port, user: USER, password: PASSWORD, database };
  const sql = postgres({ ...address, max: 1, fetch_types: false, onnotice: () => undefined, connect_timeout: 5 });
  try {
    return await conversation(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Where our copy lies in a folder that only root may enter, the server gets one of its own. */
function reachable(program: Program, folder: string, owner: Owner | undefined): Program {
  const { bin, env, root } = program;
  if (root === undefined || spawnSync(join(bin, "postgres"), ["--version"], { env, ...owner }).status === 0)
    return program;
  const moved = join(folder, "programs");
  cpSync(root, moved, { recursive: true });
  const rebased = (text: string) => text.replaceAll(root, moved);
  const ownEnv = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, rebased(value)]));
  return { bin: rebased(bin), env: ownEnv, root: moved };
}

function initialise({ bin, env }: Program, folder: string, owner: Owner | undefined): void {
  const secret = join(folder, "password");
  writeFileSync(secret, PASSWORD);
  if (owner !== undefined) chownSync(secret, owner.uid, owner.gid);
  const words = ["--pgdata", join(folder, "data"), "--username", USER, "--pwfile", secret, "--auth", "scram-sha-256"];
  const { status, stderr } = spawnSync(
    join(bin, "initdb"),
    [...words, "--encoding", "UTF8", "--locale", "C", "--no-sync"],
    { cwd: folder, env: { PATH: process.env.PATH, ...env }, encoding: "utf8", ...owner },
  );
  if (status !== 0) throw new Error(`initdb failed in ${folder}:\n${stderr}`);
}

/** A key that others may read, or that is another's, is refused. */
function copyTls(files: { cert: string; key: string }, folder: string, owner: Owner | undefined) {
  const made = join(folder, "tls");
  mkdirSync(made);
  if (owner !== undefined) chownSync(made, owner.uid, owner.gid);
  const copy = (name: "cert" | "key") => {
    const file = join(made, `${name}.pem`);
    writeFileSync(file, readFileSync(files[name]));
    chmodSync(file, 0o600);
    if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
    return file;
  };
  return { ssl: "on", ssl_cert_file: copy("cert"), ssl_key_file: copy("key") };
}

function wordsFor(settings: Readonly<Record<string, string>>, folder: string, port: number): string[] {
  const own = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    // No socket and no shared memory outside of the folder, which goes with the server.
    unix_socket_directories: "",
    dynamic_shared_memory_type: "mmap",
    log_min_messages: "fatal",
    // A copy that was fetched comes without the compiler.
    jit: "off",
    ...settings,
  };
  return ["-D", join(folder, "data"), ...Object.entries(own).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

/** Starts the process and waits until it serves. */
async function run({ program, words, folder, port, owner }: Launch): Promise<ChildProcess> {
  const server = spawn(join(program.bin, "postgres"), words, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...program.env },
    stdio: ["ignore", "ignore", "pipe"],
    // Ctrl-C reaches the whole group, and the guard ends the server anyway.
    detached: true,
    ...owner,
  });
  await once(server, "spawn");
  server.stderr?.on("data", (chunk) => writeFileSync(join(folder, "server.log"), chunk, { flag: "a" }));
  guard(server, folder);
  server.unref();
  (server.stderr as unknown as { unref(): void }).unref();
  const isUp = async () => hasEnded(server) || (await answers(port));
  const isInTime = await waitUntil(isUp, START_MS, 20);
  if (isInTime && !hasEnded(server)) return server;
  await end(server);
  throw new Error(`postgres did not start on port ${port}:\n${readLog(folder).slice(-2_000)}`);
}

function answers(port: number): Promise<boolean> {
  return talkTo(port, MAINTENANCE, (sql) => sql`SELECT 1`).then(
    () => true,
    () => false,
  );
}

/**
 * A shell that waits for the end of this process, which closes its standard input, also when nobody gets to run a
 * handler. Then it ends the server, which ends its own processes, and removes what it left. The server's own end ends
 * the guard first: the number of a process that has gone may become another's.
 */
function guard(server: ChildProcess, folder: string): void {
  const script = `read -r _; kill -QUIT "$1" 2>/dev/null
    tries=0; while kill -0 "$1" 2>/dev/null && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
    kill -9 "$1" 2>/dev/null; rm -rf "$2"`;
  const words = ["-c", script, "guard", String(pidOf(server)), folder];
  const shell = spawn("/bin/sh", words, { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.unref();
  // Held open by this process, and yet no reason for it to stay.
  (shell.stdin as unknown as { unref(): void }).unref();
  server.once("exit", () => shell.kill("SIGKILL"));
}

/** SIGQUIT is what PostgreSQL calls immediate: no checkpoint, and the next start recovers. SIGKILL would leave its children. */
async function end(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return;
  server.ref();
  const ended = once(server, "exit");
  server.kill("SIGQUIT");
  const impatience = setTimeout(() => server.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(impatience);
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

function findNobody(): Owner | undefined {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
