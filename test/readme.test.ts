/**
 * Holds README and docs to their word: every link leads somewhere, and every command in an `sh` block works. Commands of
 * Trawl are run as written, by a shell, in a folder that looks like a clone; only the addresses in them are replaced by
 * that of a demo shop, JOB by the id of a crawl that was interrupted, and crawls are cut short.
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
import { ensureDist, MAIN } from "./e2e/dist.ts";
import { newFolder } from "./e2e/folder.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/README.md", "bench/README.md", "examples/README.md"]
  .concat(readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`))
  .filter((name) => name.endsWith(".md"));

const texts = PAGES.map((name) => ({ name, text: readFileSync(join(ROOT, name), "utf8") }));

describe("the pages for readers", () => {
  it.each(texts)("lead from $name only to what is there", ({ name, text }) => {
    const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)|\bsrc="([^"]+)"/g)].map(
      ([, link, source]) => link ?? source ?? "",
    );
    const missing = links.filter((link) => !/^https?:/.test(link) && !leadsSomewhere(name, link));

    expect(missing).toEqual([]);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(target)) return false;
  return anchor === undefined || headingsOf(readFileSync(target, "utf8")).includes(anchor);
}

/** As they are linked to. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(/\s/g, "-"),
  );
}

describe("the commands for readers", () => {
  const commands = [...new Set(texts.flatMap(({ text }) => commandsOf(text)))];
  const own = commands.filter((command) => command.includes("npx trawl"));
  const others = commands.filter((command) => !command.includes("npx trawl"));
  let shop: DemoShop;
  /** A clone in which a crawl was interrupted. */
  let clone: { folder: string; jobId: string };

  beforeAll(async () => {
    await ensureDist();
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

  it.each(own)("%s", async (command) => {
    const folder = newFolder();
    cpSync(clone.folder, folder, { recursive: true, verbatimSymlinks: true });
    const line = withAddresses(command, shop.url).replaceAll("JOB", clone.jobId);
    const { code, words } = await (/--serve| trawl up/.test(line)
      ? serve(line, folder)
      : runInShell(shortened(line), folder));

    expect(code, `${line}\n${words}`).toBe(0);
  });

  it.each(others)("%s", (command) => {
    const [, script = ""] = /^npm (?:run )?(\S+)$/.exec(command) ?? [];
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };

    expect(Object.keys(scripts)).toContain(script);
    for (const [file] of scripts[script]?.matchAll(/\bscripts\/[\w.-]+/g) ?? [])
      expect(existsSync(join(ROOT, file))).toBe(true);
  });
});

/** The lines of the `sh` blocks; a line that ends in a backslash goes on. */
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
  // npx finds the program of a clone among its packages; this does no more than that, and no less.
  writeFileSync(
    join(folder, "bin/npx"),
    `#!/bin/sh\n[ "$1" = trawl ] && shift && exec "${process.execPath}" "${MAIN}" "$@"\n`,
  );
  chmodSync(join(folder, "bin/npx"), 0o755);
  const crawl = startTrawl(["crawl", `${shopUrl}/`, "--max-pages", "30", "--rate", "10/s"], { cwd: folder });
  await crawl.says(/"_depth":0/); // its first record
  crawl.kill("SIGKILL");
  await crawl.ended;
  const { jobs } = lastJson<{ jobs: { id: string; state: string }[] }>(
    await trawl(["jobs", "--json"], { cwd: folder }),
  );
  expect(jobs).toMatchObject([{ state: "running" }]);
  return { folder, jobId: jobs[0]?.id ?? "" };
}

function withAddresses(text: string, shopUrl: string): string {
  return text.replaceAll("127.0.0.1:8321", new URL(shopUrl).host).replaceAll("https://books.toscrape.com", shopUrl);
}

/** What a whole crawl does is for other tests. */
function shortened(line: string): string {
  const isWhole = line.includes("trawl crawl") && !/--(resume|max-pages)\b/.test(line);
  return isWhole ? `${line} --max-pages 5` : line;
}

type Ended = { code: number | null; words: string };

async function runInShell(line: string, cwd: string): Promise<Ended> {
  const own = Object.entries(process.env).filter(([name]) => !/^(TRAWL_|NODE_OPTIONS$|VITEST)/.test(name));
  const env = { ...Object.fromEntries(own), PATH: `${join(cwd, "bin")}:${process.env.PATH}` };
  const shell = spawn("bash", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void shell.kill());
  let words = "";
  for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk) => (words += chunk));
  const [code] = (await once(shell, "close")) as [number | null];
  return { code, words };
}

/** It would serve for ever: that it has begun is enough. */
async function serve(line: string, cwd: string): Promise<Ended> {
  const words = line.split(" ").slice(line.split(" ").indexOf("trawl") + 1);
  const isShop = line.includes("--serve");
  const served = startTrawl(
    words.map((word) => (isShop && /^\d+$/.test(word) ? "0" : word)),
    { cwd },
  );
  await served.says(isShop ? /the demo shop is at/ : /1 \(\d+\) started/);
  served.kill("SIGINT");
  const { code, stderr } = await served.ended;
  return { code: code === 130 ? 0 : code, words: stderr };
}
