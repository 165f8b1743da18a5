/** `trawl trace`: the life of one request, from what every process that had it left behind. */
import type { Command } from "commander";
import { formatCount } from "../../domain/counted.ts";
import { inPlane, type PlaneFlags, type PlaneSession, withPlane } from "../plane/in-plane.ts";

type Flags = PlaneFlags & { job?: string };

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
  withPlane(program.command("trace <what>"))
    .description("tell how a URL, a task, a job or a request (its id) went, across all processes")
    .option("--job <id>", "of a URL that several jobs have had: in this one")
    .addHelpText("after", EXAMPLES)
    .action((what: string, flags: Flags) => inPlane({ flags }, (session) => trace(session, what, flags)));
}

async function trace({ plane, screen }: PlaneSession, what: string, flags: Flags): Promise<void> {
  const told = await plane.trace({ kind: "any", word: what, jobId: flags.job });
  if (flags.json === true) return screen.out(`${JSON.stringify(told)}\n`);
  const [{ storyText }, { jobTraceText }] = await Promise.all([
    import("../trace/tell-story.ts"),
    import("../trace/tell-jobs.ts"),
  ]);
  const texts = [
    ...told.stories.map((story) => storyText(story, screen)),
    ...told.jobs.map((one) => jobTraceText(one, screen)),
    ...(told.more === 0 ? [] : [`and ${formatCount(told.more)} more\n`]),
  ];
  return screen.out(texts.join("\n"));
}
