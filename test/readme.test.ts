/**
 * Checks README and docs: every link has a target, and every command in an `sh` block works. A shell runs the `trawl`
 * commands as written, in a folder with the files of a clone. The test changes three things: addresses become the
 * address of a demo shop, `JOB` becomes the id of an interrupted crawl (in `trawl resume JOB`, of a submitted job), and
 * crawls get a page limit.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createDemoShop, type DemoShop } from "../src/demo/demo-shop.ts";
import { lastJson, startTrawl, trawl } from "./e2e/cli.ts";
import { MAIN } from "./e2e/dist.ts";
import { newFolder } from "./e2e/folder.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/README.md", "bench/README.md", "examples/README.md"]
  .concat(readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`))
  .filter((name) => name.endsWith(".md"));

const texts = PAGES.map((name) => ({ name, text: readFileSync(join(ROOT, name), "utf8") }));

describe("the Markdown pages", () => {
  it.each(texts)("have no broken link: $name", ({ name, text }) => {
    const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g)].map(
      ([, link, source]) => link ?? source ?? "",
    );
    const missing = links.filter((link) => !/^https?:/.test(link) && !hasTarget(name, link));

    expect(missing).toEqual([]);
  });
});

function hasTarget(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(target)) return false;
  return anchor === undefined || anchorsOf(readFileSync(target, "utf8")).includes(anchor);
}

/** The anchors that GitHub creates for the headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(/\s/g, "-"),
  );
}

describe("the commands in the Markdown pages", () => {
  const commands = [...new Set(texts.flatMap(({ text }) => commandsOf(text)))];
  const trawlCommands = commands.filter((command) => command.includes("npx trawl"));
  const npmCommands = commands.filter((command) => !command.includes("npx trawl"));
  let shop: DemoShop;
  /** A folder like a clone, with an interrupted crawl. */
  let clone: { folder: string; jobId: string };

  beforeAll(async () => {
    shop = await createDemoShop({ port: 0 });
    clone = await interruptedCrawl(
      shop.url,
      newFolder((clear) => void cleanUps.push(clear)),
    );
  });
  const cleanUps: (() => void)[] = [];
  afterAll(async () => {
    for (const cleanUp of cleanUps) cleanUp();
    await shop.close();
  });

  it.each(trawlCommands)("%s", async (command) => {
    const folder = newFolder();
    cpSync(clone.folder, folder, { recursive: true, verbatimSymlinks: true });
    // An interrupted crawl is resumed with `trawl crawl --resume`.
    const jobId = command.includes("trawl resume JOB") ? await submittedJob(shop.url, folder) : clone.jobId;
    const line = withAddresses(command, shop.url).replaceAll("JOB", jobId);
    const { code, output } = await (/--serve| trawl up/.test(line)
      ? serve(line, folder)
      : runInShell(shortened(line), folder));

    expect(code, `${line}\n${output}`).toBe(0);
  });

  it.each(npmCommands)("%s", (command) => {
    const [, script = ""] = /^npm (?:run )?(\S+)$/.exec(command) ?? [];
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };

    expect(Object.keys(scripts)).toContain(script);
    for (const [file] of scripts[script]?.matchAll(/\bscripts\/[\w.-]+/g) ?? [])
      expect(existsSync(join(ROOT, file))).toBe(true);
  });
});

/** The commands of the `sh` blocks. A backslash at the end of a line continues it. */
function commandsOf(text: string): string[] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block = ""]) => block.replaceAll("\\\n", " ").split("\n"))
    .filter((line) => line.trim() !== "");
}

async function interruptedCrawl(shopUrl: string, folder: string): Promise<{ folder: string; jobId: string }> {
  mkdirSync(join(folder, "examples"));
  for (const name of readdirSync(join(ROOT, "examples"))) {
    const text = readFileSync(join(ROOT, "examples", name), "utf8");
    writeFileSync(join(folder, "examples", name), withAddresses(text, shopUrl));
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "bin"));
  // In a clone, npx runs the built command line. This script does the same.
  writeFileSync(
    join(folder, "bin/npx"),
    `#!/bin/sh\n[ "$1" = trawl ] && shift && exec "${process.execPath}" "${MAIN}" "$@"\n`,
  );
  chmodSync(join(folder, "bin/npx"), 0o755);
  const crawl = startTrawl(["crawl", `${shopUrl}/`, "--max-pages", "30", "--rate", "10/s"], { cwd: folder });
  await crawl.prints(/"_depth":0/); // the first record
  crawl.kill("SIGKILL");
  await crawl.ended;
  const { jobs } = lastJson<{ jobs: { id: string; state: string }[] }>(
    await trawl(["jobs", "--json"], { cwd: folder }),
  );
  expect(jobs).toMatchObject([{ state: "running" }]);
  return { folder, jobId: jobs[0]?.id ?? "" };
}

async function submittedJob(shopUrl: string, cwd: string): Promise<string> {
  return lastJson<{ id: string }>(await trawl(["submit", `${shopUrl}/`, "--json"], { cwd })).id;
}

function withAddresses(text: string, shopUrl: string): string {
  return text.replaceAll("127.0.0.1:8321", new URL(shopUrl).host).replaceAll("https://books.toscrape.com", shopUrl);
}

/** Limits crawls to a few pages. */
function shortened(line: string): string {
  const isUnlimited = line.includes("trawl crawl") && !/--(resume|max-pages)\b/.test(line);
  return isUnlimited ? `${line} --max-pages 5` : line;
}

type Ended = { code: number | null; output: string };

async function runInShell(line: string, cwd: string): Promise<Ended> {
  const own = Object.entries(process.env).filter(([name]) => !/^(TRAWL_|NODE_OPTIONS$|VITEST)/.test(name));
  const env = { ...Object.fromEntries(own), PATH: `${join(cwd, "bin")}:${process.env.PATH}` };
  const shell = spawn("bash", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void shell.kill());
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [code] = (await once(shell, "close")) as [number | null];
  return { code, output };
}

/** Runs a command that never ends: stops it as soon as it has started. */
async function serve(line: string, cwd: string): Promise<Ended> {
  const args = line.split(" ").slice(line.split(" ").indexOf("trawl") + 1);
  const isShop = line.includes("--serve");
  const served = startTrawl(
    args.map((arg) => (isShop && /^\d+$/.test(arg) ? "0" : arg)),
    { cwd },
  );
  await served.prints(isShop ? /the demo shop runs at/ : /1 \(\d+\) started/);
  served.kill("SIGINT");
  const { code, stderr } = await served.ended;
  return { code: code === 130 ? 0 : code, output: stderr };
}
