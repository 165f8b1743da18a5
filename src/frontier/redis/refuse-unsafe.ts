/**
 * Keeps work away from a Redis that would throw URLs away to make room, or would let a script do half of it. Asked once, before a process submits or leases
 * its first: what only looks, pauses or cancels goes on, so that an operator can still see and stop things.
 */
import { TrawlError } from "../../errors.ts";
import type { Log } from "../../runtime/log.ts";
import type { Frontier } from "../frontier.ts";
import { refuseMissingRights } from "./rights.ts";
import { type Facts, readServerFacts } from "./server-facts.ts";
import type { Shards } from "./shards.ts";

type Deps = { shards: Pick<Shards, "all">; log: Log /** For people. */; shown: string };

/** The frontier, whose `createJob`, `enqueue` and `lease` throw while its server evicts (BROKER_UNSAFE) or denies a command. */
export function refusingUnsafe<F extends Pick<Frontier, "createJob" | "enqueue" | "lease">>(
  frontier: F,
  { shards, log, shown }: Deps,
): F {
  let safe: Promise<void> | undefined;

  async function check(): Promise<void> {
    for (const server of await readServerFacts(shards)) refuseEviction(server, { log, shown });
    await refuseMissingRights(shards, shown);
  }

  function ensureSafe(): Promise<void> {
    if (safe !== undefined) return safe;
    const checking = check();
    safe = checking;
    // Asked again next time: by then somebody may have mended it, or the server may be back.
    checking.catch(() => {
      safe = undefined;
    });
    return checking;
  }

  return {
    ...frontier,
    createJob: async (job) => {
      await ensureSafe();
      return frontier.createJob(job);
    },
    enqueue: async (jobId, tasks) => {
      await ensureSafe();
      return frontier.enqueue(jobId, tasks);
    },
    lease: async (request) => {
      await ensureSafe();
      return frontier.lease(request);
    },
  };
}

/** Throws BROKER_UNSAFE; where the server does not tell, warns. */
export function refuseEviction({ maxmemory_policy: policy }: Facts, { log, shown }: Omit<Deps, "shards">): void {
  if (policy === undefined) log.warn("broker.eviction_unknown", { broker: shown });
  if (policy === undefined || policy === "noeviction") return;
  throw new TrawlError("BROKER_UNSAFE", {
    op: "frontier.open",
    message: `broker ${shown} has maxmemory-policy ${policy}: it would throw URLs away to make room; set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf)`,
    detail: { policy },
  });
}
