/**
 * A fleet to measure: a Redis, origins and `trawl` processes, all on this machine, each worker a process of its own. Ends
 * everything it has started, and removes its folder.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createJiti } from "jiti";
import { MAIN } from "../../scripts/dist.mjs";
import { loadTrawl } from "../frontier/load-trawl.mjs";

const jiti = createJiti(import.meta.url);
const LOOK_MS = 10;
const NEVER_MS = 600_000;

export async function openStage() {
  const [{ startRedis }, { startOrigin }] = await Promise.all([
    jiti.import("../../test/services/redis.ts"),
    jiti.import("../../test/site/origin.ts"),
  ]);
  const folder = mkdtempSync(join(tmpdir(), "trawl-stage-"));
  const redis = await startRedis();
  const { openRedisFrontier, clock, log } = await loadTrawl("dist");
  const options = { prefix: "trawl", shards: 1, maxPending: 1e7, patienceMs: 10_000, pollMs: 1_000, time: "broker" };
  const frontier = await openRedisFrontier(redis.url, { clock, log }, options);
  const [origins, workers] = [[], new Set()];
  const env = { ...cleanEnvironment(), TRAWL_BROKER: redis.url, TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };

  function start(words) {
    const child = spawn(process.execPath, [MAIN, ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"])
      child[name].setEncoding("utf8").on("data", (text) => {
        said[name] += text;
      });
    const ended = once(child, "close").then(([code]) => ({ code, ...said }));
    return { child, said, ended };
  }

  async function run(words) {
    const { code, stdout, stderr } = await start(words).ended;
    if (code !== 0) throw new Error(`trawl ${words.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** A process that prints its address as `{ "url": … }` once it listens. */
  async function server(file, words) {
    const child = spawn(process.execPath, [file, ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
    workers.add({ child, ended: once(child, "close") });
    await until(() => said.includes("\n"), `${file} listens`);
    return { url: JSON.parse(said).url, pid: child.pid };
  }

  return {
    folder,
    frontier,
    redisUrl: redis.url,
    redisPid: redis.pid,
    server,
    write: (name, text) => writeFileSync(join(folder, name), text),
    run,
    /** Sites that answer every page after `delayMs`. */
    async openSites(count, delayMs) {
      const opened = await Promise.all(Array.from({ length: count }, () => startOrigin(slowly(delayMs))));
      origins.push(...opened);
      return opened;
    },
    /** A worker, once it has begun. */
    async worker(words) {
      const worker = start(["worker", "--json", ...words]);
      workers.add(worker);
      worker.ended.then(() => workers.delete(worker));
      await until(() => worker.said.stderr.includes('"worker.started"'), "a worker begins");
      return worker;
    },
    async stopWorkers() {
      for (const { child } of workers) child.kill("SIGTERM");
      await Promise.all([...workers].map(({ ended }) => ended));
    },
    async submit(words) {
      return JSON.parse((await run(["submit", "--json", "--quiet", ...words])).trim().split("\n").at(-1));
    },
    /** The job when it has ended. */
    async finished(id) {
      let job;
      await until(async () => {
        job = await frontier.findJob(id);
        return job.state !== "running";
      }, `job ${id} ends`);
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

/** Looks again until it is so. */
export async function until(isSo, what) {
  for (const endAt = Date.now() + NEVER_MS; !(await isSo()); await sleep(LOOK_MS)) {
    if (Date.now() > endAt) throw new Error(`waited ${NEVER_MS / 1000} s in vain until ${what}`);
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
