/** `trawl trace`: the timeline of a URL, task, job or request across all processes. */
import type { Command } from "commander";
import { formatCount } from "../../domain/format-number.ts";
import { type PlaneFlags, type PlaneSession, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";

type Flags = PlaneFlags & { job?: string };

const EXAMPLES = `
Examples:
  trawl trace https://books.toscrape.com/       a page: every attempt
  trawl trace rmwiapq7v1f20c93d4b               a request id of a recent job
  trawl trace jmwiapq7ve90649                   a job: what failed or was slow
  trawl trace 4711                              a task with at least one attempt

The timeline combines the attempts, which workers record in the store, with the
current state in the broker. If an attempt has no recorded end, its worker has
probably crashed.`;

export function addTrace(program: Command): void {
  withPlaneFlags(program.command("trace <what>"))
    .description("show the timeline of a URL, task, job or request id, across all processes")
    .option("--job <id>", "for a URL: show only this job; required if the job is archived")
    .addHelpText("after", EXAMPLES)
    .action((what: string, flags: Flags) => runOnPlane({ flags }, (session) => trace(session, what, flags)));
}

async function trace({ plane, screen }: PlaneSession, what: string, flags: Flags): Promise<void> {
  const { timelines, jobs, more } = await plane.trace({ kind: "any", query: what, jobId: flags.job });
  if (flags.json === true) return screen.out(`${JSON.stringify({ timelines, jobs, more })}\n`);
  const [{ timelineText }, { jobTraceText }] = await Promise.all([
    import("../trace/format-timeline.ts"),
    import("../trace/format-job-trace.ts"),
  ]);
  const texts = [
    ...timelines.map((timeline) => timelineText(timeline, screen)),
    ...jobs.map((one) => jobTraceText(one, screen)),
    ...(more === 0 ? [] : [`and ${formatCount(more)} more\n`]),
  ];
  return screen.out(texts.join("\n"));
}
