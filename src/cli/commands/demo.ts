/** `trawl demo`: serves the bundled shop on loopback and crawls it. */
import { type Command, Option } from "commander";
import { wholeNumber } from "../flags.ts";
import { INTERRUPTED, type Shutdown } from "../shutdown.ts";
import { processScreen, type Screen, steps, table } from "../terminal.ts";

type Flags = { serve?: boolean; port: number; out: string };

const RULES = ["title=h1", "price=.price|number", "tags[]=a.tag", "sku=jsonld:Product.sku"];

export function addDemo(program: Command, shutdown: Shutdown): void {
  program
    .command("demo")
    .description("start a small demo shop on this machine and crawl it")
    .option("--serve", "only serve the shop; crawl it yourself")
    .addOption(
      new Option("--port <n>", "port of the shop")
        .argParser(wholeNumber("--port", 0, 65_535))
        .default(0, "any free port"),
    )
    .option("--out <file>", "file for the records", "trawl-demo.jsonl")
    .action(async (flags: Flags) => {
      process.exitCode = await demo(program, flags, shutdown);
    });
}

async function demo(program: Command, flags: Flags, shutdown: Shutdown): Promise<number> {
  const screen = processScreen();
  const { createDemoShop } = await import("../../demo/demo-shop.ts");
  const shop = await createDemoShop({ port: flags.port });
  try {
    if (flags.serve === true) {
      screen.err(servedText(screen, shop.url));
      await new Promise<void>((resolve) => shutdown.onStop(() => resolve()));
      return INTERRUPTED;
    }
    const lines = crawlLines(`${shop.url}/`, flags.out);
    const shown = lines.map((args) => args.map(shellWord).join(" ")).join(" \\\n    ");
    screen.err(`the demo shop runs at ${shop.url}/; crawling it with:\n\n  ${screen.command} ${shown}\n\n`);
    await program.parseAsync(lines.flat(), { from: "user" });
    const code = Number(process.exitCode ?? 0);
    screen.err(code === INTERRUPTED ? interruptedText(screen) : nextSteps(screen, flags.out));
    return code;
  } finally {
    await shop.close();
  }
}

/** The crawl command, split into the lines that are shown. */
function crawlLines(url: string, out: string): string[][] {
  const rules = RULES.flatMap((rule) => ["-e", rule]);
  return [
    ["crawl", url, "--rate", "200/s", "--per-site", "8"],
    rules.slice(0, 6),
    [...rules.slice(6), "--name", "demo shop", "--out", out],
  ];
}

function servedText(screen: Screen, url: string): string {
  const choices = [
    ["try a page", `try ${url}/ -e title=h1`],
    ["crawl it", `crawl ${url}/ --rate 50/s --out shop.jsonl`],
  ] as const;
  return `the demo shop runs at ${url}/ until you press Ctrl-C; in another terminal:\n${steps(choices, screen)}`;
}

function interruptedText({ paint, command }: Screen): string {
  const serve = paint.cyan(`${command} demo --serve --port 8321`);
  return `\nthe demo shop has stopped too; to interrupt and resume a crawl, keep the shop running:\n  ${serve}\n`;
}

function nextSteps({ paint, command }: Screen, out: string): string {
  const rows = [
    [`  head -3 ${out}`, "show the records"],
    [`  ${command} jobs`, "list all crawls"],
    [`  ${command} demo --serve --port 8321`, "keep the shop running to experiment"],
    [`  ${command} crawl --help`, "crawl your own site"],
  ];
  return `\nnext steps:\n${table(rows, { paint: { 0: paint.cyan } })}`;
}

function shellWord(word: string): string {
  return /^[\w:/.@=-]+$/.test(word) ? word : `'${word}'`;
}
