/** `trawl schedule`: jobs that are submitted again and again. */
import { type Command, Option } from "commander";
import { CATCH_UPS, OVERLAPS } from "../../domain/schedule.ts";
import { queueName, wholeNumber } from "../flags.ts";
import { withJobFlags } from "../job-flags.ts";
import { withPlane } from "../plane/in-plane.ts";
import type { ScheduleFlags } from "../schedule/schedule.ts";

const EXAMPLES = `
Examples:
  trawl schedule add https://books.toscrape.com/ --cron "0 6 * * 1-5" \\
    --time-zone Europe/Berlin --max-pages 500
  trawl schedule add job.json --every 15m --overlap replace
  trawl schedule
  trawl schedule show ID
  trawl schedule run ID

trawl serve fires schedules, trawl worker does their work. Start as many of
both as you like: every slot is fired once.
While a run is under way, the next slot is skipped (--overlap skip), waits
for its end (queue), or cancels it (replace). Of the slots that passed while
no trawl serve ran, the latest is made up for (--catch-up one), none (skip),
or the latest --catch-up-most of them (all).
A cron has five fields, or six with seconds first; it goes by the clocks of
--time-zone, also when those change. --every counts from now.`;

export function addSchedule(program: Command): void {
  const command = withPlane(program.command("schedule"))
    .argument("[action]", "what to do: list, add, show, run, pause, resume, remove", "list")
    .argument("[targets...]", "add: what trawl submit takes; else: the id of a schedule, or its name")
    .description("submit a job again and again: by cron with a time zone, or every so often")
    .option("--cron <fields>", 'when: "0 6 * * 1-5", "*/15 * * * *", @daily')
    .option("--time-zone <name>", "whose clocks the cron goes by: Europe/Berlin (default UTC)")
    .option("--every <duration>", "in place of a cron: 15m, 6h, 1d")
    .addOption(
      new Option("--overlap <what>", "what a slot does while a run is under way (default skip)").choices(OVERLAPS),
    )
    .addOption(
      new Option("--catch-up <which>", "slots made up for that nobody was there for (default one)").choices(CATCH_UPS),
    )
    .option(
      "--catch-up-most <n>",
      "with --catch-up all: so many (default 10)",
      wholeNumber("--catch-up-most", 1, 1_000),
    )
    .option("--paused", "add it, and start nothing until it is resumed")
    .option("--queue <name>", "which workers are to take its jobs (default by route, else fetch)", queueName("--queue"))
    .option("--priority <n>", "0 is most urgent, 9 least (default by route, else 5)", wholeNumber("--priority", 0, 9));
  withJobFlags(command)
    .addHelpText("after", EXAMPLES)
    .action(async (action: string, targets: string[], flags: ScheduleFlags) => {
      // Loaded on first use, as all that knows what jobs look like.
      const { runSchedule } = await import("../schedule/schedule.ts");
      await runSchedule(action, targets, flags);
    });
}
