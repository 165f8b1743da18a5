/** `trawl try`: fetch one page and show what comes out of it. A tester of selectors; keeps nothing. */
import type { Command } from "commander";
import { extractorOf } from "../../compose.ts";
import { loadConfig } from "../../config/load.ts";
import { TrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import { newJobId, resolveJob } from "../../submit/resolve-job.ts";
import { readTarget } from "../crawl/targets.ts";
import { collect } from "../flags.ts";
import { processScreen, type Screen } from "../terminal.ts";
import { showPage } from "../try/show-page.ts";
import { type TriedPage, tryPage } from "../try/try-page.ts";

type Flags = {
  extract: string[];
  follow?: string;
  header: string[];
  ignoreRobots?: boolean;
  userAgent?: string;
  json?: boolean;
};

const EXAMPLES = `
Examples:
  trawl try https://books.toscrape.com/ -e 'title=h1'
  trawl try https://shop.example/p/1 -e 'price=.price|number!' -e 'sku=jsonld:Product.sku'
  trawl try https://shop.example/ --json | jq .records`;

export function addTry(program: Command): void {
  program
    .command("try <url>")
    .description("fetch one page and show what was fetched and extracted; nothing is kept")
    .option("-e, --extract <name=rule>", "a field of the record (repeatable)", collect, [])
    .option("--follow <selector>", "whose links to show (default a[href])")
    .option("--header <name: value>", "send this header too (repeatable)", collect, [])
    .option("--ignore-robots", "fetch even what robots.txt disallows")
    .option("--user-agent <text>", "how to introduce ourselves")
    .option("--json", "print one JSON object as the last line of stdout")
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, flags: Flags) => {
      process.exitCode = await tryOne(url, flags, processScreen());
    });
}

async function tryOne(target: string, flags: Flags, screen: Screen): Promise<number> {
  const { job, urls } = await readTarget([target], { ...flags, include: [], exclude: [] });
  const [url] = urls;
  if (url === undefined || urls.length > 1) {
    throw new TrawlError("BAD_USAGE", { op: "cli.try", message: "give one URL to try" });
  }
  const config = await loadConfig({ userAgent: flags.userAgent }, process.cwd());
  const spec = resolveJob(job, config, {
    id: newJobId(0),
    queue: undefined,
    typedHosts: [new URL(url).hostname],
    out: undefined,
  });
  const extract = extractorOf(spec);
  const tried: TriedPage = await tryPage(config, spec, url);
  if (tried.outcome.kind !== "page") {
    const { kind: _, ...why } = tried.outcome;
    if (flags.json === true) screen.out(`${JSON.stringify({ url, hops: tried.hops, ...why })}\n`);
    else screen.err(`${showable(`${url} gave no page: ${why.detail}`)}\n`);
    return 1;
  }
  const { page } = tried.outcome;
  const extraction = extract({ page, html: tried.text });
  if (flags.json === true) screen.out(`${JSON.stringify({ page, charset: tried.charset, ...extraction })}\n`);
  else screen.out(showPage({ tried, page, extraction }, screen.outColumns()));
  return 0;
}
