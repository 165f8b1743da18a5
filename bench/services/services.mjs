/**
 * Redis and PostgreSQL servers of the benchmark. They are not in the process group of a contestant, so their CPU time
 * is measured separately.
 */
import { Redis } from "ioredis";
import { createJiti } from "jiti";
import { readCpuSeconds } from "./process-cost.mjs";

const jiti = createJiti(import.meta.url);
/** Flushes to disk, which is the default of PostgreSQL. The servers of the tests do not. */
const DURABLE = { fsync: "on", full_page_writes: "on", shared_buffers: "256MB" };

/** Returns undefined, or why the service cannot be started here. */
export async function findServiceObstacle(name) {
  const { ensurePrograms } = await jiti.import("../../test/services/debian-programs.mjs");
  const [obstacle] = ensurePrograms([name === "redis" ? "redis-server" : "postgresql"]);
  return obstacle === undefined ? undefined : `${obstacle.name} cannot be started: ${obstacle.because}`;
}

export function createServices() {
  let postgres;
  let schemas = 0;

  return {
    /**
     * Starts an empty Redis for one run. Like the SQLite broker, it confirms a write before the write is flushed to
     * disk.
     */
    async startRedis() {
      const { startRedis } = await jiti.import("../../test/services/redis.ts");
      const redis = await startRedis({ appendonly: "everysec" });
      return { ...serviceOf(redis.url, redis.pid, () => redis.stop()), scripts: () => readScripts(redis.url) };
    },
    /** Returns the URL of an empty schema for one run, on a server that all runs share. */
    async openPostgres() {
      const { startPostgres } = await jiti.import("../../test/services/postgres.ts");
      postgres ??= await startPostgres({ settings: DURABLE });
      const schema = `bench_${++schemas}`;
      const url = new URL(postgres.url);
      url.searchParams.set("schema", schema);
      const drop = () => postgres.query((sql) => sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CHECKPOINT`));
      return serviceOf(url.href, postgres.pid, drop);
    },
    stop: async () => postgres?.stop(),
  };
}

/** How many Lua scripts the server has run since its start, and how long they took. */
async function readScripts(url) {
  const redis = new Redis(url);
  try {
    const stats = [
      ...(await redis.info("commandstats")).matchAll(/^cmdstat_(?:fcall|evalsha)\w*:calls=(\d+),usec=(\d+)/gm),
    ];
    const sum = (part) => stats.reduce((total, match) => total + Number(match[part]), 0);
    return { calls: sum(1), seconds: sum(2) / 1e6 };
  } finally {
    redis.disconnect();
  }
}

function serviceOf(url, pid, close) {
  const startS = readCpuSeconds(pid);
  return { url, cpuS: () => readCpuSeconds(pid) - startS, close };
}
