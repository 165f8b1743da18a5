/** What a user of the broker must be allowed to do. docs/operations.md has them as a line for ACL SETUSER; a test holds both equal. */
import { TrawlError } from "../../errors.ts";
import type { Shards } from "./shards.ts";

/** Commands of the scripts, and of inspection. What runs scripts and listens is known to be allowed once it has worked. */
export const RIGHTS = [
  ...["del", "get", "set", "unlink", "time", "publish"],
  ...["hdel", "hexists", "hget", "hgetall", "hincrby", "hlen", "hmget", "hscan", "hset"],
  ...["lindex", "llen", "lpop", "lrange", "rpush"],
  ...["sadd", "sismember", "smembers", "srandmember", "srem"],
  ...[
    "zadd",
    "zcount",
    "zpopmax",
    "zrange",
    "zrangebyscore",
    "zrank",
    "zrem",
    "zremrangebyscore",
    "zrevrangebyscore",
    "zscan",
    "zscore",
  ],
] as const;

/** Those of RIGHTS that are missing on some shard: each node of a cluster has users of its own. */
export async function findMissingRights(shards: Pick<Shards, "all">): Promise<string[]> {
  const replies = await Promise.all(shards.all.map((shard) => shard.run("find-denied", ...RIGHTS)));
  const denied = new Set(replies.flatMap((reply) => reply.slice(1)));
  return RIGHTS.filter((right) => denied.has(right));
}

/** Throws BROKER_UNREACHABLE, naming them. */
export async function refuseMissingRights(shards: Pick<Shards, "all">, shown: string): Promise<void> {
  const missing = await findMissingRights(shards);
  if (missing.length > 0) throw rightsMissing("frontier.open", missing, shown);
}

export function rightsMissing(op: string, missing: readonly string[], shown: string): TrawlError {
  return new TrawlError("BROKER_UNREACHABLE", {
    op,
    message: `broker ${shown} does not let this user run ${missing.join(", ")}; give it the rights that docs/operations.md lists`,
    detail: { missing },
  });
}
