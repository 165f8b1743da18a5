/** `trawl change`: sets the rate, priority or limits of a job that has started. */
import { type Command, InvalidArgumentError } from "commander";
import type { JobOut } from "../../client/wire-types.ts";
import type { JobChange } from "../../control/change-job.ts";
import { formatCount, plural } from "../../domain/format-number.ts";
import { parseRate } from "../../domain/rate.ts";
import { TrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import { wholeNumber } from "../flags.ts";
import { type PlaneFlags, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";

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
  trawl change jmwiapq7ve90649 --rate 1/s          slow the job down
  trawl change jmwiapq7ve90649 --priority 0        run it before other jobs
  trawl change jmwiapq7ve90649 --max-pages 500     raise or lower the limit
  trawl change jmwiapq7ve90649 --max-seconds none  remove the time limit

The change applies to all workers within about 2 seconds. If the new page limit
is lower than the number of queued URLs, the queued URLs are still fetched, and
new URLs are refused. The rate, burst and concurrency do not change for sites
that the job lists in politeness.sites.
To limit one site for all jobs, use PUT /v1/sites/{site} of the API.`;

export function addChange(program: Command): void {
  withPlaneFlags(program.command("change <job>"))
    .description("change the rate, priority or limits of a running or paused job")
    .option("--rate <rate>", "rate of requests to one site: 4/s, 10/m, unlimited", parseRateFlag)
    .option("--burst <n>", "requests that may be sent to a site at once after a pause", wholeNumber("--burst", 1, 1000))
    .option("--per-site <n>", "maximum concurrent requests to one site", wholeNumber("--per-site", 1, 1000))
    .option("--priority <n>", "0 (most urgent) to 9", wholeNumber("--priority", 0, 9))
    .option(
      "--max-pages <n>",
      "fetch at most this many URLs (redirect targets do not count); none: no limit",
      numberOrNone("--max-pages"),
    )
    .option(
      "--max-seconds <n>",
      "end the job this many seconds after its submission; none: no limit",
      numberOrNone("--max-seconds"),
    )
    .addHelpText("after", EXAMPLES)
    .action((jobId: string, flags: Flags) => {
      const change = changeOf(flags);
      return runOnPlane({ flags }, async ({ plane, screen }) => {
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
    message: "nothing to change: set --rate, --burst, --per-site, --priority, --max-pages or --max-seconds",
  });
}

/** The job's settings after the change, in one line. */
function settingsText({ id, state, politeness, priority, limits }: JobOut): string {
  const settings = [
    `${politeness.rate} per site`,
    ...(politeness.burst > 1 ? [`bursts of ${politeness.burst}`] : []),
    `${politeness.perSite} concurrent`,
    `priority ${priority}`,
    ...(limits.pages === null ? [] : [`at most ${plural(limits.pages, "page")}`]),
    ...(limits.seconds === null ? [] : [`at most ${formatCount(limits.seconds)} s`]),
  ];
  return `${id} (${state}): ${settings.join(", ")}`;
}

function parseRateFlag(value: string): string {
  if (parseRate(value) !== undefined) return value;
  throw new InvalidArgumentError("--rate must be a rate such as 4/s or 10/m, or unlimited.");
}

function numberOrNone(flag: string): (value: string) => number | null {
  const number = wholeNumber(flag, 1);
  return (value) => (value === "none" ? null : number(value));
}
