/** `trawl try`: fetch one page and show what comes out of it. A tester of selectors; keeps nothing. */
import { type Command, Option } from "commander";
import { collect } from "../flags.ts";
import { RENDER } from "../job-flags.ts";
import { processScreen } from "../terminal.ts";
import type { TryFlags } from "../try/try-one.ts";

const EXAMPLES = `
Examples:
  trawl try https://books.toscrape.com/ -e 'title=h1'
  trawl try https://shop.example/p/1 -e 'price=.price|number!' -e 'sku=jsonld:Product.sku'
  trawl try https://app.example/ --render always --wait-for .price \\
    --screenshot app.png
  trawl try https://shop.example/ --json | jq .records`;

export function addTry(program: Command): void {
  program
    .command("try <url>")
    .description("fetch one page and show what was fetched and extracted; nothing is kept")
    .option("-e, --extract <name=rule>", "a field of the record (repeatable)", collect, [])
    .option("--follow <selector>", "whose links to show (default a[href])")
    .option("--header <name: value>", "send this header too (repeatable)", collect, [])
    .addOption(new Option("--render <when>", "show the page in a browser before reading it").choices(RENDER))
    .option("--wait-for <what>", "when a rendered page is read: load, idle, or a selector that has to be there")
    .option("--screenshot <file>", "render, and write a picture of the page here (.png)")
    .option("--pdf <file>", "render, and write the page here (.pdf)")
    .option("--ignore-robots", "fetch even what robots.txt disallows")
    .option("--user-agent <text>", "how to introduce ourselves")
    .option("--json", "print one JSON object as the last line of stdout")
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, flags: TryFlags) => {
      const { tryOne } = await import("../try/try-one.ts");
      process.exitCode = await tryOne(url, flags, processScreen());
    });
}
