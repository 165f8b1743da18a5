/** `trawl submit`: queues a job for workers on this or other machines. */
import type { Command } from "commander";
import { queueName, wholeNumber } from "../flags.ts";
import { withJobFlags, withRequestIdFlag } from "../job-flags.ts";
import { withPlaneFlags } from "../plane/run-on-plane.ts";
import type { Shutdown } from "../shutdown.ts";
import type { SubmitFlags } from "../submit/submit.ts";

const EXAMPLES = `
Examples:
  trawl submit https://books.toscrape.com/ --max-pages 500
  trawl submit urls.txt --follow none --queue high_priority --priority 0
  zcat urls.gz | trawl submit - --follow none --json
  trawl submit job.json --wait
  zcat urls.gz | trawl submit - --follow none --idempotency-key urls-2026-11 \\
    --api https://trawl.example

Workers fetch the submitted URLs; start one with trawl worker. A spider must be
at the same path on the machine of every worker.
With --api or TRAWL_API, the command sends the job to a server (trawl serve),
with the key in TRAWL_API_KEY. It sends a long list in parts, and sends a failed
part again.
Exit codes: 0 submitted (with --wait: complete), 1 the list has no valid URL,
the job failed or was cancelled, or a condition of --strict applies, 2 invalid
usage, 3 broker, store or server unavailable, 130 interrupted.`;

export function addSubmit(program: Command, shutdown: Shutdown): void {
  withRequestIdFlag(withJobFlags(withPlaneFlags(program.command("submit [targets...]"))))
    .description(
      "queue URLs, a spider (spider.ts), a job (job.json) or a URL list (urls.txt, or - for stdin) for workers",
    )
    .option(
      "--queue <name>",
      "queue of the job (default: set by the routes in the configuration; without a matching route, the queue 'render' with --render always, otherwise the queue 'fetch')",
      queueName("--queue"),
    )
    .option(
      "--priority <n>",
      "0 (most urgent) to 9 (default: set by the routes in the configuration; without a matching route, 5)",
      wholeNumber("--priority", 0, 9),
    )
    .option("--resume <job>", "continue an interrupted submission; pass the same list again")
    .option("--idempotency-key <key>", "if you submit again with the same key, no second job is created")
    .option("--wait", "wait until the job ends; exit with 1 if it failed or was cancelled")
    .option("--strict", "exit with 1 if a URL was refused or, with --wait, a page failed")
    .option("--quiet", "print no progress; failures are still printed")
    .addHelpText("after", EXAMPLES)
    .action(async (targets: string[], flags: SubmitFlags) => {
      const { submit } = await import("../submit/submit.ts");
      process.exitCode = await submit(targets, flags, shutdown);
    });
}
