/**
 * Starts real PostgreSQL servers for tests, on loopback, each with its own folder and port. A server ends with the
 * process that started it, even after SIGKILL. PostgreSQL refuses to run as root. If the tests run as root, the server
 * runs as the user `nobody`.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { findPostgres, type Program } from "./debian-programs.mjs";
import { findFreePort } from "./free-port.ts";
import { waitUntil } from "./wait-until.ts";

export type PostgresOptions = {
  /** Further settings: `{ max_connections: "5" }`. */
  settings?: Readonly<Record<string, string>>;
  /** PEM files of the server. With them it also accepts TLS. */
  tls?: { cert: string; key: string };
};

export type PostgresServer = {
  /** Connection URL with user and password, for the database `trawl`. */
  url: string;
  port: number;
  password: string;
  /** Changes with a restart. */
  readonly pid: number;
  /** Runs statements as the owner of the server, on a new connection. */
  query<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T>;
  /** Ends the server at once, without a checkpoint, as in a crash. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Kills the server if it runs, and starts it with the same folder and port. Resolves when it answers. */
  restart(): Promise<void>;
  /** Ends the server and removes its folder. A second call does nothing. */
  stop(): Promise<void>;
};

type Launch = {
  program: Program;
  args: readonly string[];
  folder: string;
  port: number;
  owner: Owner | undefined;
};
type Owner = { uid: number; gid: number };

const START_MS = 60_000;
const END_MS = 20_000;
/** Another process may take a free port before the server binds it. */
const ATTEMPTS = 5;
const USER = "trawl";
const DATABASE = "trawl";
/** A database that always exists. */
const MAINTENANCE = "postgres";
/** Has characters that a URL must encode, and must not appear in an error message. */
const PASSWORD = "s3cret/p@ss word";

/** Unsafe only if the machine loses power: a crash of the server alone loses nothing. */
const UNSAFE = { fsync: "off", full_page_writes: "off" };

/** Why servers cannot be started here; undefined if they can. */
export function findPostgresObstacle(): string | undefined {
  if (findPostgres() === undefined) return "postgres is neither installed nor fetched; npm test fetches it if it can";
  if (process.getuid?.() === 0 && findNobody() === undefined)
    return "the tests run as root, and there is no user nobody";
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
    const program = readableBy(found, folder, owner);
    initialise(program, folder, owner);
    const tls = options.tls === undefined ? {} : copyTls(options.tls, folder, owner);
    const settings = { ...UNSAFE, ...tls, ...options.settings };
    for (let attempt = 1; ; attempt++) {
      const port = await findFreePort();
      const launch = { program, args: argsFor(settings, folder, port), folder, port, owner };
      try {
        const server = serverOf(launch, await run(launch));
        await withConnection(port, MAINTENANCE, (sql) => sql.unsafe(`CREATE DATABASE ${DATABASE}`));
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
    query: (work) => withConnection(port, DATABASE, work),
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

async function withConnection<T>(port: number, database: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const address = { host: "127.0.0.1", port, user: USER, password: PASSWORD, database };
  const sql = postgres({ ...address, max: 1, fetch_types: false, onnotice: () => undefined, connect_timeout: 5 });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** If the fetched programs are in a folder that only root can read, copies them to the folder of the server. */
function readableBy(program: Program, folder: string, owner: Owner | undefined): Program {
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
  const args = ["--pgdata", join(folder, "data"), "--username", USER, "--pwfile", secret, "--auth", "scram-sha-256"];
  const { status, stderr } = spawnSync(
    join(bin, "initdb"),
    [...args, "--encoding", "UTF8", "--locale", "C", "--no-sync"],
    { cwd: folder, env: { PATH: process.env.PATH, ...env }, encoding: "utf8", ...owner },
  );
  if (status !== 0) throw new Error(`initdb failed in ${folder}:\n${stderr}`);
}

/** Copies the files, because PostgreSQL refuses a key file that another user owns or can read. */
function copyTls(files: { cert: string; key: string }, folder: string, owner: Owner | undefined) {
  const target = join(folder, "tls");
  mkdirSync(target);
  if (owner !== undefined) chownSync(target, owner.uid, owner.gid);
  const copy = (name: "cert" | "key") => {
    const file = join(target, `${name}.pem`);
    writeFileSync(file, readFileSync(files[name]));
    chmodSync(file, 0o600);
    if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
    return file;
  };
  return { ssl: "on", ssl_cert_file: copy("cert"), ssl_key_file: copy("key") };
}

function argsFor(settings: Readonly<Record<string, string>>, folder: string, port: number): string[] {
  const own = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    // No socket and no shared memory outside the folder.
    unix_socket_directories: "",
    dynamic_shared_memory_type: "mmap",
    log_min_messages: "fatal",
    // The fetched programs have no JIT compiler.
    jit: "off",
    ...settings,
  };
  return ["-D", join(folder, "data"), ...Object.entries(own).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

/** Starts the process and waits until it answers. */
async function run({ program, args, folder, port, owner }: Launch): Promise<ChildProcess> {
  const server = spawn(join(program.bin, "postgres"), args, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...program.env },
    stdio: ["ignore", "ignore", "pipe"],
    // In its own process group, the server does not get Ctrl-C. The guard ends it.
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
  return withConnection(port, MAINTENANCE, (sql) => sql`SELECT 1`).then(
    () => true,
    () => false,
  );
}

/**
 * Starts a shell that waits until its stdin is closed. That happens when this process ends, even after SIGKILL. The
 * shell then ends the server, which ends its own processes, and removes the folder of the server. If the server ends
 * first, this process kills the shell: another process may get the same pid later.
 */
function guard(server: ChildProcess, folder: string): void {
  // A zombie, state Z, has ended.
  const script = `read -r _; kill -QUIT "$1" 2>/dev/null
    for attempt in $(seq 80); do
      case "$(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null)" in "" | Z) break ;; esac; sleep 0.1
    done
    kill -9 "$1" 2>/dev/null; rm -rf "$2"`;
  const args = ["-c", script, "guard", String(pidOf(server)), folder];
  const shell = spawn("/bin/sh", args, { stdio: ["pipe", "ignore", "ignore"], detached: true });
  shell.unref();
  // Stays open as long as this process runs, but does not keep it running.
  (shell.stdin as unknown as { unref(): void }).unref();
  server.once("exit", () => shell.kill("SIGKILL"));
}

/**
 * Sends SIGQUIT, an immediate shutdown without a checkpoint; the next start recovers. SIGKILL would leave child
 * processes.
 */
async function end(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return;
  server.ref();
  const ended = once(server, "exit");
  server.kill("SIGQUIT");
  const timer = setTimeout(() => server.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(timer);
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

function findNobody(): Owner | undefined {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
