/**
 * A fleet of workers that are stopped and replaced, one after the other, again and again, while they work. Judged at the
 * site's own log, at what the workers said, and at what the broker has stored: without a line in common with src/.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { MAIN } from "../../e2e/dist.ts";
import { startLinkedSite } from "../../site/linked-site.ts";
import { duplicates, missing } from "../../site/loss-checker.ts";
import { countCrashes } from "./count-crashes.ts";

export type RollingOptions = {
  /** Where the broker, unless `env` names another, and the store are. */
  folder: string;
  env: Readonly<Record<string, string>>;
  workers: number;
  /** How often each of them is replaced. */
  rounds: number;
  /** Pages of the site; with what is left after the rounds the last workers end by themselves. */
  pages: number;
  onRound(round: number, asked: number): void;
  /** Ends it, and everybody that it has started. */
  signal: AbortSignal;
};

export type RollingVerdict = {
  stops: number;
  /** Pages asked for between the first stop and the last: it was no idle fleet. */
  askedMeanwhile: number;
  asked: number;
  lost: readonly string[];
  repeated: readonly string[];
  recordsRepeated: readonly string[];
  /** Tasks that somebody died with, added up over a look into the broker after every stop. */
  crashes: number;
  /** Whatever a worker did or said that it should not. */
  complaints: readonly string[];
};

/** How long a page takes: long enough for several to be under way whenever a worker is stopped. */
const PAGE_MS = 60;
/** Far more than all that is under way needs. */
const GRACE = "30s";

type Running = { child: ChildProcess; words(): string; ended: Promise<unknown> };

export async function runRolling(options: RollingOptions): Promise<RollingVerdict> {
  const { workers, rounds, pages } = options;
  const site = await startLinkedSite({ pages, delayMs: PAGE_MS, disallowedEvery: 0 });
  const asked = () => site.log.map(({ path }) => path).filter((path) => path !== "/robots.txt");
  const complaints: string[] = [];
  const everybody: Running[] = [];
  const start = (...words: string[]) => {
    const running = startProgram(["worker", "--json", "-c", "8", ...words], options);
    everybody.push(running);
    return running;
  };
  options.signal.addEventListener("abort", () => void site.close(), { once: true });
  try {
    const fleet = Array.from({ length: workers }, () => start());
    const id = await submit(`${site.url}/`, options);
    await site.waitForRequests(workers * 4);
    const askedBefore = asked().length;
    let crashes = 0;
    for (let round = 1; round <= rounds; round++) {
      for (const [slot, running] of fleet.entries()) {
        options.signal.throwIfAborted();
        await isWorking(site, running, pages);
        running.child.kill("SIGTERM");
        fleet[slot] = start();
        complaints.push(...(await complaintsOf(running)));
        crashes += await countCrashes(options);
      }
      options.onRound(round, asked().length);
    }
    const askedMeanwhile = asked().length - askedBefore;
    if (asked().length >= pages)
      complaints.push(`all ${pages} pages were asked for before the last stop: give it more`);
    await start("--drain").ended;
    for (const { child } of fleet) child.kill("SIGTERM");
    for (const running of [...fleet, ...everybody.slice(-1)]) complaints.push(...(await complaintsOf(running)));
    crashes += await countCrashes(options);
    const records = await recordsOf(id, options);
    return {
      stops: rounds * workers,
      askedMeanwhile,
      asked: asked().length,
      lost: missing(site.expectedPages(), records),
      repeated: [...duplicates(asked()).keys()],
      recordsRepeated: [...duplicates(records).keys()],
      crashes,
      complaints,
    };
  } finally {
    for (const { child } of everybody) child.kill("SIGKILL");
    await site.close();
  }
}

/** It has begun, and the site is being asked: a worker that is stopped while it starts proves nothing. */
async function isWorking(
  site: { log: readonly unknown[]; waitForRequests(count: number): Promise<void> },
  worker: Running,
  pages: number,
): Promise<void> {
  while (!worker.words().includes("pool.process_started")) {
    await Promise.race([once(worker.child.stderr ?? worker.child, "data"), worker.ended]);
    if (worker.child.exitCode !== null) return;
  }
  await site.waitForRequests(Math.min(site.log.length + 2, pages));
}

async function complaintsOf({ child, words, ended }: Running): Promise<string[]> {
  await ended;
  const bad = words()
    .split("\n")
    .filter((line) => /"level":"(?:warn|error)"|^trawl: |process_died/.test(line));
  return child.exitCode === 0 ? bad : [`ended with ${child.exitCode ?? child.signalCode}`, ...bad];
}

function startProgram(args: readonly string[], { folder, env }: RollingOptions): Running {
  const clean = Object.entries(process.env).filter(([name]) => !/^(TRAWL_|NODE_OPTIONS$|VITEST)/.test(name));
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { ...Object.fromEntries(clean), TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_GRACE: GRACE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return { child, words: () => said, ended: once(child, "close") };
}

async function outputOf(args: readonly string[], options: RollingOptions): Promise<string> {
  const { child, words, ended } = startProgram(args, options);
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await ended;
  if (child.exitCode !== 0) throw new Error(`trawl ${args.join(" ")} ended with ${child.exitCode}: ${words()}`);
  return printed;
}

async function submit(url: string, options: RollingOptions): Promise<string> {
  const args = ["submit", url, "--rate", "unlimited", "--per-site", "16", "--json", "--quiet"];
  return (JSON.parse(await outputOf(args, options)) as { id: string }).id;
}

async function recordsOf(id: string, options: RollingOptions): Promise<string[]> {
  const lines = (await outputOf(["records", id], options)).split("\n").filter((line) => line !== "");
  return lines.map((line) => (JSON.parse(line) as { _url: string })._url);
}
