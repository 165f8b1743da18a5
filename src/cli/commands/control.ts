/** `trawl pause`, `resume`, `cancel`: a job's life, from outside. */
import type { Command } from "commander";
import { jobOut } from "../../api/job-out.ts";
import type { FrontierAdmin, JobView } from "../../frontier/frontier-admin.ts";
import { getLiveJob } from "../../retain/catalogue.ts";
import { showable } from "../../runtime/showable.ts";
import { isCrawl } from "../crawl/crawl-queue.ts";
import { inSession, type PlaceFlags, withPlaces } from "../session.ts";

type Change = { name: "pause" | "resume" | "cancel"; does: string; says(job: JobView): string };

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
    says: ({ id, counts }) => `${id} is cancelled: ${counts.cancelled} URLs dropped`,
  },
];

export function addControl(program: Command): void {
  for (const { name, does, says } of CHANGES) {
    withPlaces(program.command(`${name} <job>`))
      .description(does)
      .action((jobId: string, flags: PlaceFlags) =>
        inSession({ flags }, async ({ trawl, screen }) => {
          await getLiveJob(trawl.catalogue, jobId, `cli.${name}`);
          const change: FrontierAdmin[typeof name] = trawl.frontier[name];
          const job = await change(jobId);
          if (flags.json === true) screen.out(`${JSON.stringify(jobOut(job, trawl.clock.now()))}\n`);
          else screen.err(`${showable(says(job))}\n`);
        }),
      );
  }
}
