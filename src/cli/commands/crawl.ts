/** `trawl crawl`: run a job to completion here. */
import type { Command } from "commander";
import type { CrawlCommandFlags } from "../crawl/crawl.ts";
import { wholeNumber } from "../flags.ts";
import { withJobFlags } from "../job-flags.ts";
import { withPlaces } from "../session.ts";
import type { Stops } from "../stops.ts";

const EXAMPLES = `
Examples:
  trawl crawl https://books.toscrape.com/ --out pages.jsonl
  trawl crawl https://shop.example/ -e title=h1 -e 'price=.price|number' \\
    --include '**/product/**' --out products.csv
  trawl crawl https://a.example/ --follow none | jq .title
  trawl crawl spider.ts --max-pages 500 --processes 2
  trawl crawl --resume          go on with the crawl interrupted last

Without -e each page yields title, description, text and links. Only the start
URLs' own sites are followed.
Exit codes: 0 done, 1 the work failed (or --strict and something did), 2 usage,
3 broker or store, 130 interrupted.`;

const processes = wholeNumber("--processes", 1, 256);

export function addCrawl(program: Command, stops: Stops): void {
  withJobFlags(withPlaces(program.command("crawl [targets...]")))
    .description("crawl URLs, a spider (spider.ts), a job (job.json) or a list (urls.txt, -) to completion, here")
    .option(
      "-c, --concurrency <n>",
      "requests under way at once in each process (default 32)",
      wholeNumber("--concurrency", 1),
    )
    .option(
      "--processes <n>",
      "crawl with so many processes, supervised (default: this one; for a spider, one beside it)",
      processes,
    )
    .option("--user-agent <text>", "how to introduce ourselves; name a way to reach you")
    .option("--out <file>", "write the records here when done: .jsonl, .json, .csv or .parquet")
    .option("--resume [job]", "go on with an interrupted crawl: the last one, or the one named")
    .option("--strict", "end with 1 if anything failed")
    .option("--quiet", "no progress")
    .addHelpText("after", EXAMPLES)
    .action(async (targets: string[], flags: CrawlCommandFlags) => {
      const { crawl } = await import("../crawl/crawl.ts");
      process.exitCode = await crawl(targets, flags, stops);
    });
}
