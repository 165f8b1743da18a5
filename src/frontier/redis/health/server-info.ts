/** Reads INFO from the servers of a broker. */
import type { Shards } from "../cluster/shards.ts";

/** The fields of INFO, unchanged. */
export type ServerInfo = Readonly<Record<string, string>>;

/** INFO of every server that holds a shard, each server once. */
export async function readServerInfo(shards: Pick<Shards, "all">): Promise<ServerInfo[]> {
  const servers = new Map<string, ServerInfo>();
  for (const shard of shards.all) {
    const [, text] = await shard.run("server-info");
    const info = parseServerInfo(String(text));
    servers.set(info.run_id ?? "", info);
  }
  return [...servers.values()];
}

export function parseServerInfo(text: string): ServerInfo {
  const lines = text.split(/\r?\n/).filter((line) => /^\w+:/.test(line));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}
