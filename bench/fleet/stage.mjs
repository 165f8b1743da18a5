/**
 * A fleet for measurements: a Redis, sites and `trawl` processes, all on this machine, each in its own process. `close`
 * ends everything that was started and removes the folder.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createJiti } from "jiti";
import { loadTrawl } from "../frontier/load-trawl.mjs";
import { ROOT } from "../harness/folders.mjs";

const jiti = createJiti(import.meta.url);
const POLL_MS = 10;
const TIMEOUT_MS = 600_000;

/** `root` is the checkout whose built Trawl runs. */
export async function openStage({ root = ROOT } = {}) {
  const main = join(root, "dist/cli/main.js");
  const [{ startRedis }, { startOrigin }] = await Promise.all([
    jiti.import("../../test/services/redis.ts"),
    jiti.import("../../test/site/origin.ts"),
  ]);
  const folder = mkdtempSync(join(tmpdir(), "trawl-stage-"));
  const redis = await startRedis();
  const { openRedisFrontier, clock, log } = await loadTrawl(root);
  const options = { prefix: "trawl", shards: 1, maxPending: 1e7, retryForMs: 10_000, pollMs: 1_000, time: "broker" };
  const frontier = await openRedisFrontier(redis.url, { clock, log }, options);
  const [origins, workers] = [[], new Set()];
  const env = { ...cleanEnvironment(), TRAWL_BROKER: redis.url, TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };

  function start(args) {
    const child = spawn(process.execPath, [main, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"])
      child[name].setEncoding("utf8").on("data", (text) => {
        output[name] += text;
      });
    const ended = once(child, "close").then(([code]) => ({ code, ...output }));
    return { child, output, ended };
  }

  async function run(args) {
    const { code, stdout, stderr } = await start(args).ended;
    if (code !== 0) throw new Error(`trawl ${args.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** Starts a process that prints its address as `{ "url": … }` once it listens. */
  async function server(file, args) {
    const child = spawn(process.execPath, [file, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    workers.add({ child, ended: once(child, "close") });
    await until(() => stdout.includes("\n"), `${file} listens`);
    return { url: JSON.parse(stdout).url, pid: child.pid };
  }

  return {
    folder,
    main,
    frontier,
    redisUrl: redis.url,
    redisPid: redis.pid,
    server,
    write: (name, text) => writeFileSync(join(folder, name), text),
    run,
    /** Starts sites that answer every request after `delayMs`. */
    async openSites(count, delayMs) {
      const opened = await Promise.all(Array.from({ length: count }, () => startOrigin(slowly(delayMs))));
      origins.push(...opened);
      return opened;
    },
    /** Starts a worker; resolves when it has started. */
    async worker(args) {
      const worker = start(["worker", "--json", ...args]);
      workers.add(worker);
      worker.ended.then(() => workers.delete(worker));
      await until(() => worker.output.stderr.includes('"worker.started"'), "a worker has started");
      return worker;
    },
    async stopWorkers() {
      for (const { child } of workers) child.kill("SIGTERM");
      await Promise.all([...workers].map(({ ended }) => ended));
    },
    async submit(args) {
      return JSON.parse((await run(["submit", "--json", "--quiet", ...args])).trim().split("\n").at(-1));
    },
    /** Resolves with the job when it has ended. */
    async finished(id) {
      let job;
      await until(async () => {
        job = await frontier.findJob(id);
        return job.state !== "running";
      }, `job ${id} has ended`);
      return job;
    },
    async close() {
      for (const { child } of workers) child.kill("SIGKILL");
      await Promise.all([...workers].map(({ ended }) => ended));
      await frontier.close();
      await Promise.all(origins.map((origin) => origin.close()));
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Polls until `isMet` returns true. `condition` describes it in the error after the timeout. */
export async function until(isMet, condition) {
  for (const endAt = Date.now() + TIMEOUT_MS; !(await isMet()); await sleep(POLL_MS)) {
    if (Date.now() > endAt) throw new Error(`timeout after ${TIMEOUT_MS / 1000} s; expected: ${condition}`);
  }
}

export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}

function slowly(delayMs) {
  return async ({ url }, response) => {
    await sleep(delayMs);
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>${url}</title><h1>${url}</h1>`);
  };
}

function cleanEnvironment() {
  const unwanted = /^(TRAWL_|NODE_OPTIONS$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !unwanted.test(name)));
}
