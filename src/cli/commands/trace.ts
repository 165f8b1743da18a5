/** `trawl trace`: the life of one request, from what every process that had it left behind. */
import type { Command } from "commander";
import { refuseApi } from "../plane/in-plane.ts";
import { inSession, type PlaceFlags, type Session, withPlaces } from "../session.ts";

type Flags = PlaceFlags & { job?: string };

const EXAMPLES = `
Examples:
  trawl trace https://books.toscrape.com/       one page: every try, by whom
  trawl trace rmwiapq7v1f20c93d4b               what came of a request
  trawl trace jmwiapq7ve90649                   a job: what failed or was slow
  trawl trace 4711                              one task

It is told from the store, where workers leave how each lease went, and from
the broker, which knows where it waits now. A lease of which nobody told
anything was a worker's that died.`;

export function addTrace(program: Command): void {
  withPlaces(program.command("trace <what>"))
    .description("tell how a URL, a task, a job or a request (its id) went, across all processes")
    .option("--job <id>", "of a URL that several jobs have had: in this one")
    .addHelpText("after", EXAMPLES)
    .action(async (what: string, flags: Flags) => {
      await refuseApi("trace", flags);
      await inSession({ flags }, (session) => trace(session, what, flags));
    });
}

async function trace(session: Session, what: string, flags: Flags): Promise<void> {
  const { trawl, screen } = session;
  const { findTraced } = await import("../trace/find-traced.ts");
  const traced = await findTraced(trawl, what, flags.job);
  if (traced.kind === "pages") {
    const { storyOf } = await import("../trace/story.ts");
    const stories = await Promise.all(traced.pages.map(({ job, url }) => storyOf(trawl, job, url)));
    if (flags.json === true) return screen.out((await import("../trace/trace-json.ts")).storiesJson(stories));
    const { storyText } = await import("../trace/tell-story.ts");
    return screen.out(stories.map((story) => storyText(story, screen)).join("\n"));
  }
  const { traceJob } = await import("../trace/job-trace.ts");
  const traces = await Promise.all(traced.jobs.map((job) => traceJob(trawl, job)));
  if (flags.json === true)
    return screen.out((await import("../trace/trace-json.ts")).jobsJson(traces, trawl.clock.now()));
  const { jobTraceText } = await import("../trace/tell-jobs.ts");
  return screen.out(traces.map((one) => jobTraceText(one, screen)).join("\n"));
}
