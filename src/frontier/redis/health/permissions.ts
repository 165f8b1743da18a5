/**
 * The commands that a user of the broker needs. docs/operations.md contains the same commands as an ACL SETUSER line,
 * and a test compares the two.
 */
import { TrawlError } from "../../../errors.ts";
import type { Shards } from "../cluster/shards.ts";

/**
 * The commands that scripts and inspection use. The commands that run scripts or subscribe are not listed, because they
 * have already succeeded when the list is checked.
 */
export const REQUIRED_COMMANDS = [
  ...["del", "get", "mset", "set", "unlink", "time", "publish"],
  ...["hdel", "hexists", "hget", "hgetall", "hincrby", "hlen", "hmget", "hscan", "hset"],
  ...["lindex", "llen", "lpop", "lrange", "rpush"],
  ...["sadd", "sismember", "smembers", "smismember", "srandmember", "srem"],
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

/** Required commands that are denied on any shard. Each node of a cluster has its own users. */
export async function findDeniedCommands(shards: Pick<Shards, "all">): Promise<string[]> {
  const replies = await Promise.all(shards.all.map((shard) => shard.run("find-denied", ...REQUIRED_COMMANDS)));
  const denied = new Set(replies.flatMap((reply) => reply.slice(1)));
  return REQUIRED_COMMANDS.filter((command) => denied.has(command));
}

/** Throws BROKER_UNREACHABLE and names the denied commands. */
export async function refuseDeniedCommands(shards: Pick<Shards, "all">, redacted: string): Promise<void> {
  const denied = await findDeniedCommands(shards);
  if (denied.length > 0) throw commandsDenied("frontier.open", denied, redacted);
}

export function commandsDenied(op: string, denied: readonly string[], redacted: string): TrawlError {
  return new TrawlError("BROKER_UNREACHABLE", {
    op,
    message: `broker ${redacted} does not let this user run ${denied.join(", ")}; grant the permissions that docs/operations.md lists`,
    detail: { missing: denied },
  });
}
