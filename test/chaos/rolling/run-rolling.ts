/**
 * Stops and replaces the workers of a fleet, one after the other, again and again, while they work. Judges the result by
 * the site's log, the output of the workers, and what the broker has stored. Shares no code with src/.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { MAIN } from "../../e2e/dist.ts";
import { createLinkedSite, LINKED_SITE } from "../../site/linked-site.ts";
import { duplicates, missing } from "../../site/loss-checker.ts";
import { startOrigin } from "../../site/origin.ts";
import { countCrashes } from "./count-crashes.ts";

export type RollingOptions = {
  /** Holds the store, and the broker unless `env` names another. */
  folder: string;
  env: Readonly<Record<string, string>>;
  workers: number;
  /** How often each of them is replaced. */
  rounds: number;
  /** Pages of the site. An equal share is answered between two stops; the last workers fetch the rest. */
  pages: number;
  onRound(round: number, asked: number): void;
  /** Ends the run and every process that it has started. */
  signal: AbortSignal;
};

export type RollingVerdict = {
  stops: number;
  /** Pages requested between the first stop and the last: more than 0 unless the fleet was idle. */
  askedMeanwhile: number;
  asked: number;
  lost: readonly string[];
  repeated: readonly string[];
  recordsRepeated: readonly string[];
  /** Crash counts of all tasks in the broker, read after every stop and added up. */
  crashes: number;
  /** Wrong exit codes of workers, and their warnings and errors. */
  complaints: readonly string[];
};

const PER_WORKER = 8;
const PER_SITE = 16;
/** Far more than the requests under way need; they are held while a worker starts. */
const PATIENCE = { TRAWL_GRACE: "30s", TRAWL_TOTAL_TIMEOUT: "5m" };

type Running = { child: ChildProcess; output(): string; ended: Promise<unknown> };

export async function runRolling(options: RollingOptions): Promise<RollingVerdict> {
  const { workers, rounds, pages } = options;
  const gate = createAuthenticator(Math.floor(pages / (workers * rounds + 1)));
  const linked = createLinkedSite({ ...LINKED_SITE, pages, disallowedEvery: 0 });
  const site = await startOrigin(async (request, response) => {
    if (request.url !== "/robots.txt") await gate.pass();
    return linked.handler(request, response);
  });
  const asked = () => site.log.map(({ path }) => path).filter((path) => path !== "/robots.txt");
  const complaints: string[] = [];
  const all: Running[] = [];
  const start = (...args: string[]) => {
    const running = startProgram(["worker", "--json", "-c", String(PER_WORKER), ...args], options);
    all.push(running);
    return running;
  };
  options.signal.addEventListener("abort", () => void site.close(), { once: true });
  try {
    const fleet = Array.from({ length: workers }, () => start());
    const id = await submit(`${site.url}/`, options);
    let askedBefore: number | undefined;
    let crashes = 0;
    for (let round = 1; round <= rounds; round++) {
      for (const [slot, running] of fleet.entries()) {
        // As many requests as there can be: every worker has some under way, or as many as the site allows are.
        await Promise.race([gate.held(Math.min(PER_SITE, workers * PER_WORKER)), running.ended]);
        options.signal.throwIfAborted();
        askedBefore ??= asked().length;
        running.child.kill("SIGTERM");
        fleet[slot] = start();
        gate.raise();
        complaints.push(...(await complaintsOf(running)));
        crashes += await countCrashes(options);
      }
      options.onRound(round, asked().length);
    }
    const askedMeanwhile = asked().length - (askedBefore ?? 0);
    gate.open();
    await start("--drain").ended;
    for (const { child } of fleet) child.kill("SIGTERM");
    for (const running of [...fleet, ...all.slice(-1)]) complaints.push(...(await complaintsOf(running)));
    crashes += await countCrashes(options);
    const records = await recordsOf(id, options);
    const expected = linked.expectedPaths().map((path) => site.url + path);
    return {
      stops: rounds * workers,
      askedMeanwhile,
      asked: asked().length,
      lost: missing(expected, records),
      repeated: [...duplicates(asked()).keys()],
      recordsRepeated: [...duplicates(records).keys()],
      crashes,
      complaints,
    };
  } finally {
    for (const { child } of all) child.kill("SIGKILL");
    await site.close();
  }
}

/** Answers `share` pages, then holds requests until it is raised by another share: a worker is stopped with work under way. */
function createAuthenticator(share: number) {
  let left = share;
  let waiting: (() => void)[] = [];
  let onHeld = () => {};
  function raiseBy(count: number): void {
    left += count;
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  }
  return {
    async pass(): Promise<void> {
      while (left <= 0) {
        const woken = new Promise<void>((resolve) => waiting.push(resolve));
        onHeld();
        await woken;
      }
      left -= 1;
    },
    /** Resolves when this many requests are held. */
    held: (count: number) =>
      new Promise<void>((resolve) => {
        onHeld = () => {
          if (waiting.length >= count) resolve();
        };
        onHeld();
      }),
    raise: () => raiseBy(share),
    open: () => raiseBy(Number.POSITIVE_INFINITY),
  };
}

async function complaintsOf({ child, output, ended }: Running): Promise<string[]> {
  await ended;
  const bad = output()
    .split("\n")
    .filter((line) => /"level":"(?:warn|error)"|^trawl: |process_died/.test(line));
  return child.exitCode === 0 ? bad : [`ended with ${child.exitCode ?? child.signalCode}`, ...bad];
}

function startProgram(args: readonly string[], { folder, env }: RollingOptions): Running {
  const clean = Object.entries(process.env).filter(([name]) => !/^(TRAWL_|NODE_OPTIONS$|VITEST)/.test(name));
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { ...Object.fromEntries(clean), TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", ...PATIENCE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return { child, output: () => output, ended: once(child, "close") };
}

async function outputOf(args: readonly string[], options: RollingOptions): Promise<string> {
  const { child, output, ended } = startProgram(args, options);
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await ended;
  if (child.exitCode !== 0) throw new Error(`trawl ${args.join(" ")} ended with ${child.exitCode}: ${output()}`);
  return printed;
}

async function submit(url: string, options: RollingOptions): Promise<string> {
  const args = ["submit", url, "--rate", "unlimited", "--per-site", String(PER_SITE), "--json", "--quiet"];
  return (JSON.parse(await outputOf(args, options)) as { id: string }).id;
}

async function recordsOf(id: string, options: RollingOptions): Promise<string[]> {
  const lines = (await outputOf(["records", id], options)).split("\n").filter((line) => line !== "");
  return lines.map((line) => (JSON.parse(line) as { _url: string })._url);
}
