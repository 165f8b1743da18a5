/** Compares the counts that a Redis broker stores with the tasks they count. */
import { readFileSync } from "node:fs";
import { withRedis } from "../services/redis-client.ts";

const AUDIT = readFileSync(new URL("./audit-redis.lua", import.meta.url), "utf8");

/** The differences on a shard; none, unless there is a bug. */
export async function auditShard(port: number, shard: string): Promise<string[]> {
  return withRedis(port, async (redis) => (await redis.eval(AUDIT, 1, shard)) as string[]);
}
