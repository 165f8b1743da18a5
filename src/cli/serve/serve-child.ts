/** The API server as a child process of `trawl up`: reports its URL and its heartbeat to the supervisor. */
import type { TrawlError } from "../../errors.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import { createReporter } from "../../worker/pool/reporter.ts";
import { STOP_SLACK_MS } from "../../worker/pool/supervisor.ts";
import type { WorkerTally } from "../../worker/worker.ts";
import type { CommandSession } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { ownRssMb } from "../worker/memory-watch.ts";
import { createOrphanWatch } from "../worker/orphan-watch.ts";
import type { SupervisorLink } from "../worker/supervisor-link.ts";
import { runServer } from "./run-server.ts";

/** The server runs no tasks. */
const NO_TALLY: WorkerTally = { tasks: 0, pages: 0, records: 0 };

/** Runs the server. Resolves when it has stopped. It sends no `hello` message, because it has no leases to return. */
export async function runServerChild(
  session: CommandSession,
  shutdown: Shutdown,
  { schedules }: { schedules: boolean },
  { send }: SupervisorLink,
): Promise<WorkerTally> {
  const services = [
    createReporter({ send, tally: () => NO_TALLY, rssMb: ownRssMb, metrics: () => undefined }),
    createOrphanWatch({ afterMs: session.config.graceMs + STOP_SLACK_MS }),
  ];
  for (const service of services) service.start();
  try {
    await runServer(session, shutdown, { schedules, onListening: (at) => send({ kind: "listening", ...at }) });
  } finally {
    for (const service of services) await service.stop();
  }
  return NO_TALLY;
}

/**
 * The last message of a server that cannot run. At the first start, a port in use is a failure. After a restart, the
 * supervisor starts the server again until the port is free, and the workers continue.
 */
export function serverFailureMessage({ code, message }: TrawlError, isRestart: boolean): ChildMessage {
  if (code === "ADDRESS_TAKEN" && isRestart) return { kind: "unavailable", problem: { code, message } };
  return { kind: "failed", failure: { code, message } };
}
