/** `trawl delete`: deletes a job with its pages, records and bodies. */
import type { Command } from "commander";
import { showable } from "../../runtime/showable.ts";
import { type PlaneFlags, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";
import type { Shutdown } from "../shutdown.ts";

const EXAMPLES = `
Examples:
  trawl delete j3k9x2
  trawl delete j3k9x2 --cancel       cancel the job first if it is running

Deletes the job with its pages, records and failed URLs. A server or worker
removes the bodies that no other job uses, after an hour. If the command is
interrupted, run it again, or let the next server or worker remove the rest.
Deletion cannot be undone.
To keep the records, export them first:
  trawl records j3k9x2 --out FILE
Exit codes: 0 deleted, 2 invalid usage, unknown job or job still running,
3 broker, store or server unavailable.`;

export function addDelete(program: Command, shutdown: Shutdown): void {
  withPlaneFlags(program.command("delete <job>"))
    .description("delete a job with its pages, records and bodies")
    .option("--cancel", "cancel the job first if it has not ended")
    .addHelpText("after", EXAMPLES)
    .action((jobId: string, flags: PlaneFlags & { cancel?: boolean }) =>
      runOnPlane({ flags, waitsForBroker: true }, async ({ plane, screen }) => {
        const interrupted = new AbortController();
        const listener = shutdown.onStop(() => interrupted.abort());
        const options = { cancel: flags.cancel === true, signal: interrupted.signal };
        const { isWhole } = await plane.deleteJob(jobId, options).finally(() => listener.remove());
        if (flags.json === true) await screen.out(`${JSON.stringify({ id: jobId, removed: isWhole })}\n`);
        else screen.err(`${showable(jobId)} is deleted${isWhole ? "" : LATER}\n`);
      }),
    );
}

const LATER = "; a server or worker removes the rest of its data later";
