/**
 * One round: one process serves a site and another crawls it. The crawl is killed at random moments and resumed until
 * it is done. The round is judged by the log of the site and the output of the crawl. All files are in the folder of
 * the caller.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { readAccessLog } from "../site/access-log.ts";
import { LINKED_SITE, type LinkedSiteOptions } from "../site/linked-site.ts";
import { type Evidence, judgeRound, type Limits, type LoggedRequest, type Verdict } from "./judge-round.ts";
import { type Kill, planKills } from "./kill-plan.ts";
import { openLogTail } from "./log-tail.ts";

export type RoundOptions = {
  seed: number;
  pages: number;
  /** An empty folder, which the caller removes. */
  folder: string;
  /** The path of the built command line. */
  main: string;
};

export type Round = Verdict & { seed: number; kills: number; plan: readonly Kill[]; seconds: number };

/** The figures of a round whose crawl failed: only the failure itself is reported. */
const UNFINISHED = { requests: 0, repeated: 0, loggedExcessMs: 0, excessMs: 0, maxAtOnce: 0 };

const SERVE = fileURLToPath(new URL("./serve-site.mjs", import.meta.url));
const LIMITS: Limits = { perSecond: 200, perSite: 8 };
/** The time that a page takes: long enough that almost `perSite` requests are under way when a process is killed. */
const DELAY_MS = 35;
const POLL_MS = 10;
/** A crawl that runs longer than this is aborted. */
const HANGS_AFTER_MS = 300_000;

export async function runKillRound({ seed, pages, folder, main }: RoundOptions): Promise<Round> {
  const startedAt = performance.now();
  const site = { ...LINKED_SITE, pages, delayMs: DELAY_MS, disallowedEvery: 7, seed };
  const log = join(folder, "access.jsonl");
  const { server, url } = await serve(site, log);
  const plan = planKills(seed);
  try {
    const crawl = crawlOf({ main, folder, url });
    const kills = await killAndResume(plan, crawl, log, pages);
    const end = await endOf(crawl());
    await stop(server);
    const seconds = (performance.now() - startedAt) / 1000;
    const verdict =
      end.code === 0
        ? judgeRound({ site, siteUrl: url, limits: LIMITS, kills, ...evidenceIn(folder, log, end.stdout) })
        : { ...UNFINISHED, problems: [`the crawl ended with ${end.code ?? end.signal}: ${end.stderr}`] };
    return { ...verdict, seed, kills, plan, seconds };
  } finally {
    await stop(server);
  }
}

function evidenceIn(folder: string, log: string, stdout: string): Pick<Evidence, "log" | "records" | "summary"> {
  return {
    log: readAccessLog(log) as LoggedRequest[],
    records: recordUrls(join(folder, "pages.jsonl")),
    summary: JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? ""),
  };
}

/** Starts or resumes the crawl for every kill of the plan. Returns how many kills found it running. */
async function killAndResume(
  plan: readonly Kill[],
  crawl: () => ChildProcess,
  log: string,
  pages: number,
): Promise<number> {
  let kills = 0;
  for (const kill of plan) {
    const child = crawl();
    const ended = endOf(child);
    const killed = waitForKill(kill, log, pages, ended).then(() => child.kill("SIGKILL"));
    const { signal } = await ended;
    await killed;
    if (signal === "SIGKILL") kills += 1;
  }
  return kills;
}

/** Resolves when it is time to kill, or when the process has ended. */
async function waitForKill({ after, ms }: Kill, log: string, pages: number, ended: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  const tail = openLogTail(log);
  try {
    while (after === "finish" && !isOver && tail.count() < pages) await Promise.race([over, wait(POLL_MS)]);
    await Promise.race([over, wait(ms)]);
  } finally {
    tail.close();
  }
}

function crawlOf({ main, folder, url }: { main: string; folder: string; url: string }): () => ChildProcess {
  const limits = ["--rate", `${LIMITS.perSecond}/s`, "--burst", "1", "--per-site", String(LIMITS.perSite)];
  // `--resume` with a target resumes its crawl, or starts it if the process was killed before it had created the job.
  const args = ["crawl", `${url}/`, ...limits, "--out", "pages.jsonl", "--json", "--quiet", "--resume"];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TRAWL_")));
  return () => spawn(process.execPath, [main, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
}

async function serve(site: LinkedSiteOptions, log: string): Promise<{ server: ChildProcess; url: string }> {
  const args = [SERVE, JSON.stringify({ log, site })];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  raisePriority(server);
  const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  return { server, url };
}

/** A site process that waits for a CPU would log requests late, and closer together than they arrived. */
function raisePriority({ pid = 0 }: ChildProcess): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SYSTEM_ERROR") throw error; // only root can raise a priority
  }
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, "exit");
  server.kill("SIGTERM");
  await exit;
}

async function endOf(child: ChildProcess) {
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const timer = setTimeout(() => child.kill("SIGABRT"), HANGS_AFTER_MS);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  return { code, signal, ...output };
}

function recordUrls(file: string): string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { _url: string })._url);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
