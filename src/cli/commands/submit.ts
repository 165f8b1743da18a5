/** `trawl submit`: queue a job for workers, here or elsewhere. */
import type { Command } from "commander";
import { queueName, wholeNumber } from "../flags.ts";
import { withJobFlags } from "../job-flags.ts";
import { withPlane } from "../plane/in-plane.ts";
import type { Stops } from "../stops.ts";
import type { SubmitFlags } from "../submit/submit.ts";

const EXAMPLES = `
Examples:
  trawl submit https://books.toscrape.com/ --max-pages 500
  trawl submit urls.txt --follow none --queue high_priority --priority 0
  zcat urls.gz | trawl submit - --follow none --json
  trawl submit job.json --wait
  zcat urls.gz | trawl submit - --follow none --idempotency-key urls-2026-11 \\
    --api https://trawl.example

Workers fetch what is submitted: start some with trawl worker. A spider is
loaded by them, from the same path.
With --api or TRAWL_API a trawl serve takes it, under the key of TRAWL_API_KEY:
lists of any length go in parts, each sent again where it got lost.
Exit codes: 0 submitted (with --wait: done), 1 no URL of a list was good, or
the work failed, 2 usage, 3 broker, store or server, 130 interrupted.`;

export function addSubmit(program: Command, stops: Stops): void {
  withJobFlags(withPlane(program.command("submit [targets...]")))
    .description("queue URLs, a spider (spider.ts), a job (job.json) or a list (urls.txt, -) for workers")
    .option("--queue <name>", "which workers are to take it (default by route, else fetch)", queueName("--queue"))
    .option("--priority <n>", "0 is most urgent, 9 least (default by route, else 5)", wholeNumber("--priority", 0, 9))
    .option("--resume <job>", "go on with a submission that was interrupted: give the same list again")
    .option(
      "--idempotency-key <key>",
      "the same key again is the same job: submit it again, whatever became of the first try",
    )
    .option("--wait", "follow the job until it ends, and end as it did")
    .option("--strict", "end with 1 if a URL was refused or, with --wait, anything failed")
    .option("--quiet", "no progress")
    .addHelpText("after", EXAMPLES)
    .action(async (targets: string[], flags: SubmitFlags) => {
      const { submit } = await import("../submit/submit.ts");
      process.exitCode = await submit(targets, flags, stops);
    });
}
