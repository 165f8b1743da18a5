/** `trawl pause`, `resume`, `cancel`: a job's life, from outside. */

import type { Command } from "commander";
import type { JobOut } from "../../api/wire-types.ts";
import { plural } from "../../domain/counted.ts";
import { showable } from "../../runtime/showable.ts";
import { isCrawl } from "../crawl/crawl-queue.ts";
import type { Steering } from "../plane/control-plane.ts";
import { inPlane, type PlaneFlags, withPlane } from "../plane/in-plane.ts";

type Change = { name: Steering; does: string; says(job: JobOut): string };

const CHANGES: readonly Change[] = [
  {
    name: "pause",
    does: "stop fetching a job's URLs until it is resumed; what is under way ends",
    says: ({ id }) => `${id} is paused; go on with: trawl resume ${id}`,
  },
  {
    name: "resume",
    does: "let a paused job go on (an interrupted crawl goes on with: trawl crawl --resume)",
    says: (job) =>
      isCrawl(job)
        ? `${job.id} may run; if no crawl of it is running: trawl crawl --resume ${job.id}`
        : `${job.id} may run: workers that serve ${job.queue} go on with it`,
  },
  {
    name: "cancel",
    does: "drop what a job has waiting; what is under way ends, what came out stays",
    says: ({ id, counts }) => `${id} is cancelled: ${plural(counts.cancelled, "URL")} dropped`,
  },
];

export function addControl(program: Command): void {
  for (const { name, does, says } of CHANGES) {
    withPlane(program.command(`${name} <job>`))
      .description(does)
      .action((jobId: string, flags: PlaneFlags) =>
        inPlane({ flags }, async ({ plane, screen }) => {
          const job = await plane.steer(jobId, name);
          if (flags.json === true) await screen.out(`${JSON.stringify(job)}\n`);
          else screen.err(`${showable(says(job))}\n`);
        }),
      );
  }
}
