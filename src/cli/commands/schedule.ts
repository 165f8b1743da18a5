/** `trawl schedule`: manages jobs that are submitted repeatedly. */
import { type Command, Option } from "commander";
import { CATCH_UPS, OVERLAPS } from "../../domain/schedule.ts";
import { queueName, wholeNumber } from "../flags.ts";
import { withJobFlags } from "../job-flags.ts";
import { withPlaneFlags } from "../plane/run-on-plane.ts";
import type { ScheduleFlags } from "../schedule/schedule.ts";

const EXAMPLES = `
Examples:
  trawl schedule add https://books.toscrape.com/ --cron "0 6 * * 1-5" \\
    --time-zone Europe/Berlin --max-pages 500
  trawl schedule add job.json --every 15m --overlap replace
  trawl schedule
  trawl schedule show ID
  trawl schedule run ID

trawl serve submits the jobs of schedules, and trawl worker runs them; trawl up
does both. With several servers, each scheduled time still starts only one run.
If the job of the previous run has not ended, the next run is skipped (--overlap
skip), waits for its end (queue) or cancels it (replace). If no server submits a
run within TRAWL_SCHEDULE_GRACE, the run is missed. --catch-up one starts the
latest missed run later, skip starts none of them, and all starts the latest
--max-catch-up of them.
A cron expression has five fields, or six with seconds first. Its times are
local times in --time-zone, including daylight saving time. --every counts from
the creation of the schedule.`;

export function addSchedule(program: Command): void {
  const command = withPlaneFlags(program.command("schedule"))
    .argument("[action]", "list, add, show, run, pause, resume or remove", "list")
    .argument("[targets...]", "add: as for trawl submit; other actions: the id or name of a schedule")
    .description("submit a job repeatedly: by cron expression or at a fixed interval")
    .option("--cron <fields>", 'cron expression: "0 6 * * 1-5", "*/15 * * * *", @daily')
    .option("--time-zone <name>", "time zone of the cron expression, such as Europe/Berlin (default UTC)")
    .option("--every <duration>", "interval instead of a cron expression: 15m, 6h, 1d")
    .addOption(
      new Option(
        "--overlap <what>",
        "if the job of the previous run has not ended: skip the new run, queue it until that job ends, or cancel and replace that job",
      )
        .choices(OVERLAPS)
        .default(undefined, "skip"),
    )
    .addOption(
      new Option(
        "--catch-up <which>",
        "missed runs to start later; skip: none; one: the latest; all: the latest ones, at most --max-catch-up",
      )
        .choices(CATCH_UPS)
        .default(undefined, "one"),
    )
    .option(
      "--max-catch-up <n>",
      "with --catch-up all: start at most this many missed runs (default 10)",
      wholeNumber("--max-catch-up", 1, 1_000),
    )
    .option("--paused", "add the schedule in the paused state")
    .option("--queue <name>", "queue of the jobs (default: as for trawl submit)", queueName("--queue"))
    .option("--priority <n>", "0 (most urgent) to 9 (default: as for trawl submit)", wholeNumber("--priority", 0, 9));
  withJobFlags(command, {
    recrawlDefault: " (default: the schedule's own set)",
    name: "name of the schedule and of its jobs",
  })
    .addHelpText("after", EXAMPLES)
    .action(async (action: string, targets: string[], flags: ScheduleFlags) => {
      // Imported on first use: the job schemas take long to load.
      const { runSchedule } = await import("../schedule/schedule.ts");
      await runSchedule(action, targets, flags);
    });
}
