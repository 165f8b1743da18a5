/** `trawl crawl`: runs a job to completion in this terminal. */
import type { Command } from "commander";
import type { CrawlCommandFlags } from "../crawl/crawl.ts";
import { wholeNumber } from "../flags.ts";
import { withJobFlags, withRequestIdFlag } from "../job-flags.ts";
import { withProxyFlag } from "../proxy-flags.ts";
import { withConnectionFlags } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";

const EXAMPLES = `
Examples:
  trawl crawl https://books.toscrape.com/ --out pages.jsonl
  trawl crawl https://shop.example/ -e title=h1 -e 'price=.price|number' \\
    --include '**/product/**' --out products.csv
  trawl crawl https://a.example/ --follow none | jq .title
  trawl crawl spider.ts --max-pages 500 --processes 2
  trawl crawl --resume          continue the last interrupted crawl

Without rules or a spider, the record of a page contains its title, description,
text and links. By default, the crawl follows only links to the site of the page
that contains them.
Exit codes: 0 complete, 1 the crawl failed or was cancelled (with --strict: any
page failed), 2 invalid usage, 3 broker, store or browser unavailable,
130 interrupted.`;

const processes = wholeNumber("--processes", 1, 256);

export function addCrawl(program: Command, shutdown: Shutdown): void {
  withProxyFlag(withRequestIdFlag(withJobFlags(withConnectionFlags(program.command("crawl [targets...]")))))
    .description(
      "crawl URLs, a spider (spider.ts), a job (job.json) or a URL list (urls.txt, or - for stdin) in this terminal",
    )
    .option(
      "-c, --concurrency <n>",
      "maximum concurrent tasks per process (default 100)",
      wholeNumber("--concurrency", 1),
    )
    .option(
      "--processes <n>",
      "number of worker processes (default: 1 for a spider; otherwise the tasks run in this process)",
      processes,
    )
    .option("--user-agent <text>", "the User-Agent header; include a way to contact you")
    .option("--out <file>", "write the records to this file: .jsonl, .json, .csv or .parquet")
    .option("--resume [job]", "continue an interrupted crawl: the newest one, or the given job")
    .option("--strict", "exit with 1 if any page failed")
    .option("--quiet", "print no progress; print a report only if the exit code is 1")
    .addHelpText("after", EXAMPLES)
    .action(async (targets: string[], flags: CrawlCommandFlags) => {
      const { crawl } = await import("../crawl/crawl.ts");
      process.exitCode = await crawl(targets, flags, shutdown);
    });
}
