/**
 * A real fleet for dashboard tests: a small web server, a broker, a store, `trawl serve` and supervised workers, each
 * in its own process. `fillStage` adds data for every page.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { connect, type Trawl } from "../../src/client/client.ts";
import { type RunningCli, startTrawl } from "../e2e/cli.ts";
import { ensureDist } from "../e2e/dist.ts";
import { findFreePort } from "../services/free-port.ts";
import { startRedis } from "../services/redis.ts";
import { type StageWeb, startStageWeb } from "./stage-web.ts";

export type StageOptions = {
  broker?: "sqlite" | "redis";
  /** The command-line arguments of each worker that is started with the stage; see `worker`. */
  workers?: readonly (readonly string[])[];
  /** Proxies that only the server knows, so that the workers send their requests directly. */
  proxies?: readonly object[];
  /** More settings for server and workers. */
  env?: Readonly<Record<string, string>>;
};

export type StageServer = {
  readonly pid: number;
  /** Sends SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port. */
  restart(): Promise<void>;
};

export type Stage = {
  /** The URL of the server and its dashboard, without a trailing slash. */
  url: string;
  /** A key with all scopes. */
  key: string;
  api: Trawl;
  web: StageWeb;
  server: StageServer;
  folder: string;
  /** Starts `trawl worker` with these arguments; resolves when it is running. */
  worker(args?: readonly string[]): Promise<RunningCli>;
  /** Stops all processes and removes the folder. */
  close(): Promise<void>;
};

const KEY = "stage-admin-key-0123456789";
const NAMES = pathToFileURL(join(import.meta.dirname, "resolve-stage-names.mjs")).href;
/** A stage runs until it is closed. */
const NEVER_MS = 2 ** 31 - 1;
const DEFAULT_ARGS = [
  "--queues",
  "fetch,deliver,parse",
  "-c",
  "16",
  "--processes",
  "2",
  "--max-memory-per-child",
  "512",
];

export async function openStage({
  broker = "sqlite",
  workers = [DEFAULT_ARGS],
  proxies,
  env = {},
}: StageOptions = {}): Promise<Stage> {
  await ensureDist();
  const closing: (() => unknown)[] = [];
  const web = await startStageWeb();
  closing.push(web.close);
  const folder = mkdtempSync(join(tmpdir(), "trawl-stage-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const redis = broker === "redis" ? await startRedis() : undefined;
  if (redis !== undefined) closing.push(redis.stop);
  const settings = {
    TRAWL_ALLOW_PRIVATE: "127.0.0.0/8",
    TRAWL_API_KEYS: `stage:${KEY}:read+submit+admin`,
    STAGE_WEB: web.site,
    NODE_OPTIONS: `--import ${NAMES}`,
    ...(redis === undefined ? {} : { TRAWL_BROKER: redis.url }),
    ...env,
  };
  const proxyFile = join(folder, "proxies.json");
  if (proxies !== undefined) writeFileSync(proxyFile, JSON.stringify(proxies));
  const ofServer = proxies === undefined ? {} : { TRAWL_PROXIES: proxyFile };
  const start = (args: readonly string[], more: Readonly<Record<string, string>> = {}): RunningCli => {
    const running = startTrawl(args, { cwd: folder, env: { ...settings, ...more }, hangsAfterMs: NEVER_MS });
    closing.push(() => stop(running));
    // If the stage is never closed, its processes end with this process.
    process.once("exit", () => running.kill("SIGKILL"));
    return running;
  };
  const worker = async (args: readonly string[] = DEFAULT_ARGS): Promise<RunningCli> => {
    const running = start(["worker", "--json", ...args]);
    await running.prints(/"worker\.started"/);
    return running;
  };
  const port = await findFreePort();
  const server = await startServer(() => start(["serve", "--port", String(port), "--json"], ofServer));
  const url = `http://127.0.0.1:${port}`;
  await Promise.all(workers.map(worker));
  return {
    ...{ url, key: KEY, web, server, folder, worker },
    api: connect(url, { key: KEY }),
    async close() {
      // In reverse order: processes before the web server and the folder that they use.
      for (const end of closing.splice(0).reverse()) await end();
    },
  };
}

async function startServer(start: () => RunningCli): Promise<StageServer> {
  let running = start();
  await running.prints(/"url"/);
  return {
    get pid() {
      return running.pid;
    },
    kill: () => kill(running),
    async restart() {
      await kill(running);
      running = start();
      await running.prints(/"url"/);
    },
  };
}

/** Sends two signals, like a second Ctrl-C: the process stops without draining, and a supervisor stops its children. */
async function stop(running: RunningCli): Promise<void> {
  running.kill("SIGINT");
  running.kill("SIGTERM");
  await running.ended;
}

async function kill(running: RunningCli): Promise<void> {
  running.kill("SIGKILL");
  await running.ended;
}
