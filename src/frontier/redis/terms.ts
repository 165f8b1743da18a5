/**
 * Opens and returns the terms of sites outside of lease calls (F2, F3). Callers: workers that send requests without a
 * task, workers that stop, and lease.ts. Each script is atomic. After a lost reply the call is repeated. Returning a
 * term twice changes nothing. Opening a term twice leaves the first one unused, and the second one starts after it.
 */
import type { ReturnedTerm, Term } from "../../domain/politeness.ts";
import { MAX_BATCH, type TermRequest } from "../frontier.ts";
import { allDone, type Shard, type Shards } from "./cluster/shards.ts";
import { decodeTerm, encodeReturned } from "./codec/codec.ts";
import type { ScriptArg } from "./connection/broker-client.ts";

export async function openTerm(shards: Shards, { worker, site, returned }: TermRequest): Promise<Term | undefined> {
  const shard = shards.ofSite(site);
  const { time } = shard;
  const { reply, trip } = await shard.runTimed("open-term", () => [
    worker,
    site,
    ...(returned === undefined ? [] : encodeReturned(returned, time.fromNow)),
  ]);
  const term = String(reply[1]);
  return term === "" ? undefined : time.toLocalTerm(decodeTerm(site, term), trip);
}

/** Returns terms on all shards at once, so that an unreachable shard delays no other. */
export async function returnTerms(shards: Shards, returned: readonly ReturnedTerm[]): Promise<void> {
  await allDone([...termsByShard(shards, returned)].map(([shard, terms]) => returnTermsOn(shard, terms)));
}

/** Returns terms of sites on this shard, in batches of MAX_BATCH (F17). */
export async function returnTermsOn(shard: Shard, returned: readonly ReturnedTerm[]): Promise<void> {
  for (let from = 0; from < returned.length; from += MAX_BATCH) {
    const batch = returned.slice(from, from + MAX_BATCH);
    await shard.runTimed("return-terms", () =>
      batch.flatMap((term): ScriptArg[] => [term.site, ...encodeReturned(term, shard.time.fromNow)]),
    );
  }
}

export function termsByShard(shards: Shards, returned: readonly ReturnedTerm[]): Map<Shard, ReturnedTerm[]> {
  const parts = new Map<Shard, ReturnedTerm[]>();
  for (const term of returned) {
    const shard = shards.ofSite(term.site);
    const part = parts.get(shard) ?? [];
    part.push(term);
    parts.set(shard, part);
  }
  return parts;
}
