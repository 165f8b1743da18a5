/** `trawl delete`: a job, with all that came of it. */
import type { Command } from "commander";
import { showable } from "../../runtime/showable.ts";
import { inPlane, type PlaneFlags, withPlane } from "../plane/in-plane.ts";
import type { Stops } from "../stops.ts";

const EXAMPLES = `
Examples:
  trawl delete j3k9x2
  trawl delete j3k9x2 --cancel       also if it has not ended

It is gone for everybody at once: pages, records, dead letters, and bodies that
no page of another job has. Interrupted, the rest is removed by the next server
or worker that runs, or by the same command. There is no way back; to keep the
records, write them to a file first: trawl records j3k9x2 --out FILE
Exit codes: 0 deleted, 2 usage, no such job, or it has not ended, 3 broker or
store lost.`;

export function addDelete(program: Command, stops: Stops): void {
  withPlane(program.command("delete <job>"))
    .description("delete a job with all that came of it: pages, records, bodies")
    .option("--cancel", "cancel it first, if it has not ended")
    .addHelpText("after", EXAMPLES)
    .action((jobId: string, flags: PlaneFlags & { cancel?: boolean }) =>
      inPlane({ flags, isPatient: true }, async ({ plane, screen }) => {
        const interrupted = new AbortController();
        const asked = stops.once(() => interrupted.abort());
        const options = { cancel: flags.cancel === true, signal: interrupted.signal };
        const { isWhole } = await plane.deleteJob(jobId, options).finally(() => asked.forget());
        if (flags.json === true) await screen.out(`${JSON.stringify({ id: jobId, removed: isWhole })}\n`);
        else screen.err(`${showable(jobId)} is deleted${isWhole ? "" : LATER}\n`);
      }),
    );
}

const LATER = "; what is left of it is removed by the next server or worker that runs";
