/** `trawl try`: fetches one page and shows the extracted records and links. Stores nothing. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { collect } from "../flags.ts";
import { RENDER, withRequestFlags } from "../job-flags.ts";
import { withProxyFlag } from "../proxy-flags.ts";
import { processScreen } from "../terminal.ts";
import type { TryFlags } from "../try/try-one.ts";

const EXAMPLES = `
Examples:
  trawl try https://books.toscrape.com/ -e 'title=h1'
  trawl try https://shop.example/p/1 -e 'price=.price|number!' -e 'sku=jsonld:Product.sku'
  trawl try https://app.example/ --render always --wait-for .price \\
    --screenshot app.png
  trawl try spider.ts                       the first start URL of a spider
  trawl try spider.ts https://shop.example/p/1 --handler product
  trawl try https://shop.example/api -d '{"page": 1}' -H 'X-Key: env:KEY'
  trawl try https://shop.example/ --json | jq .records

With a spider or a job, the page is read as in a crawl: by the handlers of the
spider, or by the rules of the job.
Exit codes: 0 success, 1 the page cannot be fetched or the handler failed,
2 invalid usage, 3 browser unavailable, 130 interrupted.`;

export function addTry(program: Command): void {
  withProxyFlag(withRequestFlags(program.command("try <target> [url]")))
    .description("fetch one page, run rules, a job or a spider on it, and show records and links; nothing is stored")
    .option("-e, --extract <name=rule>", "add a field to the record (repeatable)", collect, [])
    .option("--follow <selector>", "selector of the links to show (default a[href])")
    .option("--handler <name>", "run this handler of the spider (default page)")
    .option("--carry <json>", "the JSON value that the handler receives as carry", jsonValue)
    .addOption(new Option("--render <when>", "render the page in a browser").choices(RENDER))
    .option(
      "--wait-for <what>",
      "when the rendered page is ready: load, idle (no network requests), or a selector that must match",
    )
    .option("--screenshot <file>", "render the page and save a screenshot (.png)")
    .option("--pdf <file>", "render the page and save it as PDF (.pdf)")
    .option("--ignore-robots", "ignore robots.txt")
    .option("--user-agent <text>", "the User-Agent header")
    .option("--json", "print one JSON object as the last line of stdout")
    .addHelpText("after", EXAMPLES)
    .action(async (target: string, url: string | undefined, flags: TryFlags) => {
      const { tryOne } = await import("../try/try-one.ts");
      process.exitCode = await tryOne({ target, givenUrl: url }, flags, processScreen());
    });
}

function jsonValue(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new InvalidArgumentError('--carry must be JSON, for example {"category":"tea"}.');
  }
}
