/**
 * A fleet with everything to see, for looking at the dashboard: a little web, a broker and a store, `trawl serve` and
 * supervised workers, each the real thing in a process of its own. `fillStage` puts something on every page.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { connect, type Trawl } from "../../src/client/client.ts";
import { type RunningCli, startTrawl } from "../e2e/cli.ts";
import { ensureDist } from "../e2e/dist.ts";
import { takeFreePort } from "../services/free-port.ts";
import { startRedis } from "../services/redis.ts";
import { type StageWeb, startStageWeb } from "./stage-web.ts";

export type StageOptions = {
  broker?: "sqlite" | "redis";
  /** Words for each worker that is started with the stage; see `worker`. */
  workers?: readonly (readonly string[])[];
  /** More settings for server and workers. */
  env?: Readonly<Record<string, string>>;
};

export type StageServer = {
  readonly pid: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** On the same port. */
  restart(): Promise<void>;
};

export type Stage = {
  /** Where the server and its dashboard are, without a slash at the end. */
  url: string;
  /** May do everything. */
  key: string;
  api: Trawl;
  web: StageWeb;
  server: StageServer;
  folder: string;
  /** Starts `trawl worker` with these words; resolves when it has begun. */
  worker(words?: readonly string[]): Promise<RunningCli>;
  /** Ends all of it, and removes the folder. */
  close(): Promise<void>;
};

const KEY = "stage-admin-key-0123456789";
const NAMES = pathToFileURL(join(import.meta.dirname, "names.mjs")).href;
/** A stage stays until it is closed. */
const NEVER_MS = 2 ** 31 - 1;
const FEW = ["--queues", "fetch,deliver,parse", "-c", "16", "--processes", "2", "--max-memory-per-child", "512"];

export async function openStage({ broker = "sqlite", workers = [FEW], env = {} }: StageOptions = {}): Promise<Stage> {
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
  const start = (words: readonly string[]): RunningCli => {
    const running = startTrawl(words, { cwd: folder, env: settings, hangsAfterMs: NEVER_MS });
    closing.push(() => stop(running));
    // Should nobody get to close the stage, its processes end with the one that started them.
    process.once("exit", () => running.kill("SIGKILL"));
    return running;
  };
  const worker = async (words: readonly string[] = FEW): Promise<RunningCli> => {
    const running = start(["worker", "--json", ...words]);
    await running.says(/"worker\.started"/);
    return running;
  };
  const port = await takeFreePort();
  const server = await startServer(() => start(["serve", "--port", String(port), "--json"]));
  const url = `http://127.0.0.1:${port}`;
  await Promise.all(workers.map(worker));
  return {
    ...{ url, key: KEY, web, server, folder, worker },
    api: connect(url, { key: KEY }),
    async close() {
      // Last come, first gone: processes before the web and the folder that they use.
      for (const end of closing.splice(0).reverse()) await end();
    },
  };
}

async function startServer(start: () => RunningCli): Promise<StageServer> {
  let running = start();
  await running.says(/"url"/);
  return {
    get pid() {
      return running.pid;
    },
    kill: () => endOf(running),
    async restart() {
      await endOf(running);
      running = start();
      await running.says(/"url"/);
    },
  };
}

/** As somebody who presses Ctrl-C twice: nothing here is worth waiting for, and a supervisor takes its processes along. */
async function stop(running: RunningCli): Promise<void> {
  running.kill("SIGINT");
  running.kill("SIGTERM");
  await running.ended;
}

async function endOf(running: RunningCli): Promise<void> {
  running.kill("SIGKILL");
  await running.ended;
}
