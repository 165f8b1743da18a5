/**
 * Refuses to work on a Redis that would evict URLs, or whose ACL denies a command that a script needs. The check runs
 * once, before a process first submits or leases. Inspecting, pausing and cancelling stay possible, so that an operator
 * can act.
 */
import { TrawlError } from "../../../errors.ts";
import type { Log } from "../../../runtime/log.ts";
import type { Frontier } from "../../frontier.ts";
import type { Shards } from "../cluster/shards.ts";
import { refuseDeniedCommands } from "./permissions.ts";
import { readServerInfo, type ServerInfo } from "./server-info.ts";

type Deps = { shards: Pick<Shards, "all">; log: Log; redacted: string };

/** `createJob`, `enqueue` and `lease` throw while the server evicts keys (BROKER_UNSAFE) or denies a command. */
export function withSafetyChecks<F extends Pick<Frontier, "createJob" | "enqueue" | "lease">>(
  frontier: F,
  { shards, log, redacted }: Deps,
): F {
  let safe: Promise<void> | undefined;

  async function check(): Promise<void> {
    for (const server of await readServerInfo(shards)) refuseEviction(server, { log, redacted });
    await refuseDeniedCommands(shards, redacted);
  }

  function ensureSafe(): Promise<void> {
    if (safe !== undefined) return safe;
    const checking = check();
    safe = checking;
    // A failed check runs again with the next call: the operator may have fixed the server.
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

/** Throws BROKER_UNSAFE. Only warns if the server does not report its policy. */
export function refuseEviction(
  { maxmemory_policy: policy }: ServerInfo,
  { log, redacted }: Omit<Deps, "shards">,
): void {
  if (policy === undefined) log.warn("broker.eviction_unknown", { broker: redacted });
  if (policy === undefined || policy === "noeviction") return;
  throw new TrawlError("BROKER_UNSAFE", {
    op: "frontier.open",
    message: `broker ${redacted} has maxmemory-policy ${policy}: it would evict URLs when its memory is full; set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf)`,
    detail: { policy },
  });
}
