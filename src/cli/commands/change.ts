/** `trawl change`: another pace, priority or limit for a job that has begun. */
import { type Command, InvalidArgumentError } from "commander";
import type { JobChange } from "../../api/change-job.ts";
import type { JobOut } from "../../api/wire-types.ts";
import { formatCount, plural } from "../../domain/counted.ts";
import { parseRate } from "../../domain/rate.ts";
import { TrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import { wholeNumber } from "../flags.ts";
import { inPlane, type PlaneFlags, withPlane } from "../plane/in-plane.ts";

type Flags = PlaneFlags & {
  rate?: string;
  burst?: number;
  perSite?: number;
  priority?: number;
  maxPages?: number | null;
  maxSeconds?: number | null;
};

const EXAMPLES = `
Examples:
  trawl change jmwiapq7ve90649 --rate 1/s          slower, from now on
  trawl change jmwiapq7ve90649 --priority 0        before all others
  trawl change jmwiapq7ve90649 --max-pages 500     raised or lowered
  trawl change jmwiapq7ve90649 --max-seconds none  without a deadline

It holds for all workers at once. A page limit below what is queued drops
nothing: what is there is fetched, and no more is taken in. For one site,
whatever its jobs say, there is PUT /v1/sites/{site}.`;

export function addChange(program: Command): void {
  withPlane(program.command("change <job>"))
    .description("change a running job's pace, priority or limits")
    .option("--rate <rate>", "requests to one site: 4/s, 10/m, unlimited", rateWord)
    .option("--burst <n>", "requests to a site at once after a quiet time", wholeNumber("--burst", 1, 1000))
    .option("--per-site <n>", "requests to one site under way at once", wholeNumber("--per-site", 1, 1000))
    .option("--priority <n>", "0 is most urgent, 9 least", wholeNumber("--priority", 0, 9))
    .option("--max-pages <n>", "take in at most this many URLs; none: no limit", numberOrNone("--max-pages"))
    .option("--max-seconds <n>", "stop so long after it was submitted; none: no limit", numberOrNone("--max-seconds"))
    .addHelpText("after", EXAMPLES)
    .action((jobId: string, flags: Flags) => {
      const change = changeOf(flags);
      return inPlane({ flags }, async ({ plane, screen }) => {
        const job = await plane.changeJob(jobId, change);
        if (flags.json === true) await screen.out(`${JSON.stringify(job)}\n`);
        else screen.err(`${showable(settingsText(job))}\n`);
      });
    });
}

function changeOf({ rate, burst, perSite, priority, maxPages, maxSeconds }: Flags): JobChange {
  const limits = {
    ...(maxPages === undefined ? {} : { pages: maxPages }),
    ...(maxSeconds === undefined ? {} : { seconds: maxSeconds }),
  };
  const change = {
    ...(rate === undefined ? {} : { rate }),
    ...(burst === undefined ? {} : { burst }),
    ...(perSite === undefined ? {} : { perSite }),
    ...(priority === undefined ? {} : { priority }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
  if (Object.keys(change).length > 0) return change;
  throw new TrawlError("BAD_USAGE", {
    op: "cli.change",
    message: "nothing to change: say what with --rate, --burst, --per-site, --priority, --max-pages or --max-seconds",
  });
}

/** How a job is set now, in one line. */
function settingsText({ id, state, politeness, priority, limits }: JobOut): string {
  const words = [
    `${politeness.rate} to a site`,
    ...(politeness.burst > 1 ? [`bursts of ${politeness.burst}`] : []),
    `${politeness.perSite} at once`,
    `priority ${priority}`,
    ...(limits.pages === null ? [] : [`at most ${plural(limits.pages, "page")}`]),
    ...(limits.seconds === null ? [] : [`at most ${formatCount(limits.seconds)} s`]),
  ];
  return `${id} (${state}): ${words.join(", ")}`;
}

function rateWord(value: string): string {
  if (parseRate(value) !== undefined) return value;
  throw new InvalidArgumentError("--rate takes 4/s, 10/m or unlimited.");
}

function numberOrNone(flag: string): (value: string) => number | null {
  const number = wholeNumber(flag, 1);
  return (value) => (value === "none" ? null : number(value));
}
