/** Runs what a supervisor has started this process for, and says the last word that tells how it ended. */
import { ERRORS, isTrawlError, type TrawlError } from "../../errors.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import type { WorkerTally } from "../../worker/worker.ts";
import type { Stops } from "../stops.ts";
import { linkToSupervisor, type SupervisorLink } from "./supervisor-link.ts";

/** `lastWords`: the supervisor tells of what keeps everybody from working, and ends as they say. */
export async function asChild(
  stops: Stops,
  work: (link: SupervisorLink) => Promise<WorkerTally>,
  lastWords: (error: TrawlError) => ChildMessage,
): Promise<void> {
  const link = linkToSupervisor(stops);
  try {
    const tally = await work(link);
    await link.close({ kind: "over", tally });
  } catch (error) {
    if (!isTrawlError(error) || error.exitCode === ERRORS.INTERNAL.exit) throw error;
    await link.close(lastWords(error));
    process.exitCode = error.exitCode;
  } finally {
    await link.close(undefined);
  }
}
