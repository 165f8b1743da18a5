/** The control plane as a process of `trawl up`: tells its supervisor where it listens, and that it is alive. */
import type { TrawlError } from "../../errors.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import { createReporter } from "../../worker/pool/reporter.ts";
import { STOP_SLACK_MS } from "../../worker/pool/supervisor.ts";
import type { WorkerTally } from "../../worker/worker.ts";
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { ownRssMb } from "../worker/memory-watch.ts";
import { createOrphanWatch } from "../worker/orphan-watch.ts";
import type { SupervisorLink } from "../worker/supervisor-link.ts";
import { runServer } from "./run-server.ts";

/** It works off no tasks. */
const NO_TALLY: WorkerTally = { tasks: 0, pages: 0, records: 0 };

/** Resolves when it has stopped. It never says hello: it holds no leases that would have to be handed back. */
export async function runServerChild(
  session: Session,
  stops: Stops,
  { schedules }: { schedules: boolean },
  { send }: SupervisorLink,
): Promise<WorkerTally> {
  const beside = [
    createReporter({ send, tally: () => NO_TALLY, rssMb: ownRssMb, metrics: () => undefined }),
    createOrphanWatch({ afterMs: session.config.graceMs + STOP_SLACK_MS }),
  ];
  for (const service of beside) service.start();
  try {
    await runServer(session, stops, { schedules, onListening: (at) => send({ kind: "listening", ...at }) });
  } finally {
    for (const service of beside) await service.stop();
  }
  return NO_TALLY;
}

/** A port that is taken at the start is a mistake to be told; later, the workers go on and it comes back when it can. */
export function serverLastWords({ code, message }: TrawlError, isAgain: boolean): ChildMessage {
  if (code === "ADDRESS_TAKEN" && isAgain) return { kind: "lacking", lack: { code, message } };
  return { kind: "failed", failure: { code, message } };
}
