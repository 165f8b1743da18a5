/** What the servers of a broker tell of themselves. */
import type { Shards } from "./shards.ts";

/** The fields of INFO, as they come. */
export type Facts = Readonly<Record<string, string>>;

/** Each server that holds a shard, once. */
export async function readServerFacts(shards: Pick<Shards, "all">): Promise<Facts[]> {
  const servers = new Map<string, Facts>();
  for (const shard of shards.all) {
    const [, text] = await shard.run("server-facts");
    const facts = parseFacts(String(text));
    servers.set(facts.run_id ?? "", facts);
  }
  return [...servers.values()];
}

export function parseFacts(text: string): Facts {
  const lines = text.split(/\r?\n/).filter((line) => /^\w+:/.test(line));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}
