/** `trawl pause`, `trawl resume` and `trawl cancel`. */
import type { Command } from "commander";
import type { JobOut } from "../../client/wire-types.ts";
import type { ControlAction } from "../../control/control-job.ts";
import { isCrawl } from "../../domain/crawl-queue.ts";
import { plural } from "../../domain/format-number.ts";
import { showable } from "../../runtime/showable.ts";
import { type PlaneFlags, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";
import { withCommand } from "../terminal.ts";

type ControlCommand = { name: ControlAction; description: string; message(job: JobOut): string };

const COMMANDS: readonly ControlCommand[] = [
  {
    name: "pause",
    description: "pause a job: running tasks finish, no new ones start",
    message: ({ id }) => `${id} is paused; resume it with: trawl resume ${id}`,
  },
  {
    name: "resume",
    description: "resume a paused job; for an interrupted crawl, use trawl crawl --resume",
    message: (job) =>
      isCrawl(job)
        ? `${job.id} is running; its process continues it`
        : `${job.id} is running; workers on queue ${job.queue} continue it`,
  },
  {
    name: "cancel",
    description: "cancel a job: running tasks finish, waiting URLs are dropped, pages and records are kept",
    message: ({ id, counts }) => `${id} is cancelled: ${plural(counts.cancelled, "URL")} dropped`,
  },
];

export function addControl(program: Command): void {
  for (const { name, description, message } of COMMANDS) {
    withPlaneFlags(program.command(`${name} <job>`))
      .description(description)
      .action((jobId: string, flags: PlaneFlags) =>
        runOnPlane({ flags }, async ({ plane, screen }) => {
          const job = await plane.controlJob(jobId, name);
          if (flags.json === true) await screen.out(`${JSON.stringify(job)}\n`);
          else screen.err(`${showable(withCommand(message(job), screen))}\n`);
        }),
      );
  }
}
