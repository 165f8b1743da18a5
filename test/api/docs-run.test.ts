/**
 * Runs the commands of docs/api.md block by block in one shell, and its program by itself, with a local server, worker
 * and site. Only addresses are replaced. An error in an answer fails the test.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { MAIN } from "../e2e/dist.ts";
import { newFolder } from "../e2e/folder.ts";
import { closeLater } from "./harness.ts";
import { ended, startWorking, type Working } from "./working-api.ts";

const PAGE = resolve(import.meta.dirname, "../../docs/api.md");

it("the commands in docs/api.md work", async () => {
  const folder = newFolder();
  const places = { broker: `sqlite:${join(folder, "broker.db")}`, store: `sqlite:${join(folder, "store.db")}` };
  const working = await startWorking(
    (_, response) => void response.setHeader("content-type", "text/html").end("<h1>one</h1>"),
    places,
  );
  await working.startWorker();
  const urls = Array.from({ length: 30 }, (_, nth) => `${working.site.url}/${nth}`);
  writeFileSync(join(folder, "urls.gz"), gzipSync(urls.join("\n")));
  const blocks = blocksOf(readFileSync(PAGE, "utf8"), "bash");
  expect(blocks.length).toBeGreaterThan(4);
  const script = blocks.map((block) => asRun(block, working)).join("\n");
  if (/\bnpx trawl\b/.test(script)) await withNpx(folder);

  const { code, output } = await runScript(script, folder, places);

  expect(code, `${script}\n${output}`).toBe(0);
  const { json } = await working.request("GET", "/v1/jobs");
  const ids = (json.jobs as unknown as { id: string }[]).map(({ id }) => id);
  const jobs = (await Promise.all(ids.map((id) => ended(working, id)))) as { tally: { pages: number } }[];
  expect(jobs.map(({ tally }) => tally.pages).sort()).toEqual([1, 1, 1, 30]);
  // The file contains the records that existed when it was written.
  expect(readFileSync(join(folder, "records.csv"), "utf8")).toMatch(/_url,_status,/);
});

it("the program in docs/api.md works", async () => {
  const folder = newFolder();
  const working = await startWorking({ "/": "<h1>one</h1>" });
  await working.startWorker();
  // Installs the package, like a package manager.
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(resolve(import.meta.dirname, "../.."), join(folder, "node_modules/trawl"));
  const [program = "", ...more] = blocksOf(readFileSync(PAGE, "utf8"), "ts");
  expect(more).toEqual([]);
  writeFileSync(join(folder, "program.mjs"), asRun(program, working));

  const { code, output } = await runProgram(process.execPath, ["program.mjs"], folder, {});

  expect(code, output).toBe(0);
  expect(output).toBe(`one ${working.site.url}/\nfinished: 1 done, 0 failed\npage 200\n`);
});

function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , block = ""]) => block);
}

function asRun(block: string, { url, site }: Working): string {
  return block
    .replaceAll(/^npx trawl serve.*&$/gm, "") // the test has started a server
    .replaceAll("curl -s", "curl --fail-with-body -S -s")
    .replaceAll("localhost:7700", new URL(url).host)
    .replaceAll("https://a.example", site.url);
}

/** An `npx` that runs the command line of this clone. */
async function withNpx(folder: string): Promise<void> {
  mkdirSync(join(folder, "bin"));
  const file = join(folder, "bin/npx");
  writeFileSync(file, `#!/bin/sh\n[ "$1" = trawl ] && shift && exec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(file, 0o755);
}

async function runScript(script: string, cwd: string, { broker, store }: { broker: string; store: string }) {
  const env = { PATH: `${join(cwd, "bin")}:${process.env.PATH}`, TRAWL_BROKER: broker, TRAWL_STORE: store };
  return runProgram("bash", ["-euo", "pipefail", "-c", script], cwd, env);
}

async function runProgram(file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn(file, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  closeLater(async () => void child.kill());
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}
