/** Runs the work of a child process and reports its result to the supervisor. */
import { ERRORS, isTrawlError, type TrawlError } from "../../errors.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import type { WorkerTally } from "../../worker/worker.ts";
import type { Shutdown } from "../shutdown.ts";
import { linkToSupervisor, type SupervisorLink } from "./supervisor-link.ts";

/**
 * `failureMessage` converts an expected error to the last message for the supervisor. The supervisor prints the error.
 * It then exits with the code of the error, or starts the process again later.
 */
export async function asChild(
  shutdown: Shutdown,
  work: (link: SupervisorLink) => Promise<WorkerTally>,
  failureMessage: (error: TrawlError) => ChildMessage,
): Promise<void> {
  const link = linkToSupervisor(shutdown);
  try {
    const tally = await work(link);
    await link.close({ kind: "over", tally });
  } catch (error) {
    if (!isTrawlError(error) || error.exitCode === ERRORS.INTERNAL.exit) throw error;
    await link.close(failureMessage(error));
    process.exitCode = error.exitCode;
  } finally {
    await link.close(undefined);
  }
}
