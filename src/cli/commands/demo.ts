/** `trawl demo`: serve the bundled shop on loopback and crawl it. */
import { type Command, Option } from "commander";
import { wholeNumber } from "../flags.ts";
import { INTERRUPTED, type Stops } from "../stops.ts";
import { processScreen, type Screen, steps, table } from "../terminal.ts";

type Flags = { serve?: boolean; port: number; out: string };

const RULES = ["title=h1", "price=.price|number", "tags[]=a.tag", "sku=jsonld:Product.sku"];

export function addDemo(program: Command, stops: Stops): void {
  program
    .command("demo")
    .description("serve a little shop on this machine and crawl it")
    .option("--serve", "only serve it, to crawl by hand")
    .addOption(
      new Option("--port <n>", "where").argParser(wholeNumber("--port", 0, 65_535)).default(0, "any port that is free"),
    )
    .option("--out <file>", "where the records go", "trawl-demo.jsonl")
    .action(async (flags: Flags) => {
      process.exitCode = await demo(program, flags, stops);
    });
}

async function demo(program: Command, flags: Flags, stops: Stops): Promise<number> {
  const screen = processScreen();
  const { createDemoShop } = await import("../../demo/demo-shop.ts");
  const shop = await createDemoShop({ port: flags.port });
  try {
    if (flags.serve === true) {
      screen.err(servedWords(screen, shop.url));
      await new Promise<void>((resolve) => stops.once(resolve));
      return INTERRUPTED;
    }
    const lines = crawlLines(`${shop.url}/`, flags.out);
    const shown = lines.map((words) => words.map(shellWord).join(" ")).join(" \\\n    ");
    screen.err(`the demo shop is at ${shop.url}/ and is crawled with\n\n  ${screen.command} ${shown}\n\n`);
    await program.parseAsync(lines.flat(), { from: "user" });
    const code = Number(process.exitCode ?? 0);
    screen.err(code === INTERRUPTED ? interruptedWords(screen) : nextSteps(screen, flags.out));
    return code;
  } finally {
    await shop.close();
  }
}

/** The command, as it is best broken into lines. */
function crawlLines(url: string, out: string): string[][] {
  const rules = RULES.flatMap((rule) => ["-e", rule]);
  return [
    ["crawl", url, "--rate", "200/s", "--per-site", "8"],
    rules.slice(0, 6),
    [...rules.slice(6), "--name", "demo shop", "--out", out],
  ];
}

function servedWords(screen: Screen, url: string): string {
  const choices = [
    ["look", `try ${url}/ -e title=h1`],
    ["crawl", `crawl ${url}/ --rate 50/s --out shop.jsonl`],
  ] as const;
  return `the demo shop is at ${url}/ until Ctrl-C; in another terminal:\n${steps(choices, screen)}`;
}

function interruptedWords({ paint, command }: Screen): string {
  const serve = paint.cyan(`${command} demo --serve --port 8321`);
  return `\nthe shop closed with the demo; one that stays open, to resume crawls of:\n  ${serve}\n`;
}

function nextSteps({ paint, command }: Screen, out: string): string {
  const rows = [
    [`  head -3 ${out}`, "the records"],
    [`  ${command} jobs`, "every crawl so far"],
    [`  ${command} demo --serve --port 8321`, "keep the shop open, to try things on"],
    [`  ${command} crawl --help`, "crawl a site of your own"],
  ];
  return `\nnext:\n${table(rows, { paint: { 0: paint.cyan } })}`;
}

function shellWord(word: string): string {
  return /^[\w:/.@=-]+$/.test(word) ? word : `'${word}'`;
}
