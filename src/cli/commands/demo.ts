/** `trawl demo`: serve the bundled shop on loopback and crawl it. */
import type { Command } from "commander";
import { createDemoShop } from "../../demo/demo-shop.ts";
import { wholeNumber } from "../flags.ts";
import { INTERRUPTED, type Stops } from "../stops.ts";
import { processScreen } from "../terminal.ts";

type Flags = { serve?: boolean; port: number; out: string };

const RULES = ["title=h1", "price=.price|number", "tags[]=a.tag", "sku=jsonld:Product.sku"];

export function addDemo(program: Command, stops: Stops): void {
  program
    .command("demo")
    .description("serve a little shop on this machine and crawl it")
    .option("--serve", "only serve it, to crawl by hand")
    .option("--port <n>", "where (default: any free port)", wholeNumber("--port", 0), 0)
    .option("--out <file>", "where the records go", "trawl-demo.jsonl")
    .action(async (flags: Flags) => {
      process.exitCode = await demo(program, flags, stops);
    });
}

async function demo(program: Command, flags: Flags, stops: Stops): Promise<number> {
  const screen = processScreen();
  const shop = await createDemoShop({ port: flags.port });
  try {
    if (flags.serve === true) {
      screen.err(
        `the demo shop is at ${shop.url}/ (Ctrl-C ends it)\n  try   trawl crawl ${shop.url}/ --rate 50/s --out shop.jsonl\n`,
      );
      await new Promise<void>((resolve) => stops.once(resolve));
      return INTERRUPTED;
    }
    const rules = RULES.flatMap((rule) => ["-e", rule]);
    const args = [
      `${shop.url}/`,
      "--rate",
      "200/s",
      "--per-site",
      "8",
      "--name",
      "demo shop",
      "--out",
      flags.out,
      ...rules,
    ];
    screen.err(
      `the demo shop is at ${shop.url}/ ; crawling it with\n  trawl crawl ${args.map(shellWord).join(" ")}\n\n`,
    );
    await program.parseAsync(["crawl", ...args], { from: "user" });
    screen.err(nextSteps(flags.out));
    return Number(process.exitCode ?? 0);
  } finally {
    await shop.close();
  }
}

function nextSteps(out: string): string {
  return [
    "\nnext:\n",
    `  head -3 ${out}                          the records\n`,
    "  npx trawl jobs                               every crawl so far\n",
    "  npx trawl try https://example.com/ -e title=h1    test a selector on your own page\n",
    "  npx trawl crawl https://example.com/ --out pages.jsonl\n",
  ].join("");
}

function shellWord(word: string): string {
  return /^[\w:/.@=-]+$/.test(word) ? word : `'${word}'`;
}
