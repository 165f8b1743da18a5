/** Starts the servers of the benchmark, each in its own process, with its own folder and its own keys in Redis. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";
import { BENCH_FOLDER, ROOT } from "../harness/folders.mjs";

const BARE = fileURLToPath(new URL("./bare-server.mjs", import.meta.url));
const KEPT_ENV = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"];

/**
 * Starts all servers. Each has `name` (`trawl`, `before` or `bare`), `broker`, `url`, and `pids`: the processes whose
 * CPU time counts. `before` is the folder of another built checkout, or undefined.
 */
export async function openServers({ brokers, before, profile }) {
  await mkdir(BENCH_FOLDER, { recursive: true });
  const folder = await mkdtemp(join(BENCH_FOLDER, "api-"));
  const children = [];
  let redis;
  const startRedis = async () =>
    (await createJiti(import.meta.url).import("../../test/services/redis.ts")).startRedis();

  async function start(name, broker, args, env) {
    const cwd = join(folder, `${name}-${broker}`);
    await mkdir(cwd);
    const stdio = ["ignore", "pipe", "inherit"];
    const flags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${join(profile, `${name}-${broker}`)}`];
    const child = spawn(process.execPath, [...flags, ...args], { cwd, env: { ...cleanEnv(), ...env }, stdio });
    children.push({ child, ended: once(child, "close") });
    for await (const line of createInterface({ input: child.stdout })) {
      const pids = broker === "redis" ? [child.pid, redis.pid] : [child.pid];
      return { name, broker, url: JSON.parse(line).url, pids };
    }
    throw new Error(`${name} on ${broker} ended before it listened`);
  }

  async function close() {
    for (const { child } of children) child.kill("SIGTERM");
    await Promise.all(children.map(({ ended }) => ended));
    await redis?.stop();
    await rm(folder, { recursive: true, force: true });
  }

  try {
    const servers = [await start("bare", "none", [BARE], {})];
    for (const broker of brokers) {
      if (broker === "redis") redis ??= await startRedis();
      for (const [name, checkout] of [
        ["before", before],
        ["trawl", ROOT],
      ]) {
        if (checkout === undefined) continue;
        const args = [join(checkout, "dist/cli/main.js"), "serve", "--port", "0", "--json", "--quiet"];
        const env = broker === "redis" ? { TRAWL_BROKER: redis.url, TRAWL_BROKER_PREFIX: name } : {};
        servers.push(await start(name, broker, args, env));
      }
    }
    return { servers, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function cleanEnv() {
  return Object.fromEntries(KEPT_ENV.filter((name) => name in process.env).map((name) => [name, process.env[name]]));
}
