/**
 * Repeatedly stops and replaces the workers of a fleet, one after the other, while they work. Judges the result by the
 * log of the site, the output of the workers, and the tasks in the broker. Shares no code with src/.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { MAIN } from "../../e2e/dist.ts";
import { createLinkedSite, LINKED_SITE } from "../../site/linked-site.ts";
import { duplicates, missing } from "../../site/loss-checker.ts";
import { startOrigin } from "../../site/origin.ts";
import { countCrashes } from "./count-crashes.ts";

export type RollingOptions = {
  /** Contains the store, and the broker unless `env` names another one. */
  folder: string;
  env: Readonly<Record<string, string>>;
  workers: number;
  /** How often each worker is replaced. */
  rounds: number;
  /** Pages of the site. The site answers an equal share between two stops; the last workers fetch the rest. */
  pages: number;
  onRound(round: number, requested: number): void;
  /** Ends the run and every process that it has started. */
  signal: AbortSignal;
};

export type RollingVerdict = {
  stops: number;
  /** Pages requested between the first stop and the last: more than 0 unless the fleet was idle. */
  requestedDuringStops: number;
  requested: number;
  lost: readonly string[];
  repeated: readonly string[];
  recordsRepeated: readonly string[];
  /** Crash counts of all tasks in the broker, read after every stop and added up. */
  crashes: number;
  /** Wrong exit codes of workers, and their warnings and errors. */
  problems: readonly string[];
};

const PER_WORKER = 8;
const PER_SITE = 16;
/** Far more than the requests under way need: the site delays them while a worker starts. */
const TIMEOUTS = { TRAWL_GRACE: "30s", TRAWL_TOTAL_TIMEOUT: "5m" };

type Running = { child: ChildProcess; output(): string; ended: Promise<unknown> };

export async function runRolling(options: RollingOptions): Promise<RollingVerdict> {
  const { workers, rounds, pages } = options;
  const gate = createRequestGate(Math.floor(pages / (workers * rounds + 1)));
  const linked = createLinkedSite({ ...LINKED_SITE, pages, disallowedEvery: 0 });
  const site = await startOrigin(async (request, response) => {
    if (request.url !== "/robots.txt") await gate.pass();
    return linked.handler(request, response);
  });
  const requests = () => site.log.map(({ path }) => path).filter((path) => path !== "/robots.txt");
  const problems: string[] = [];
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
    let requestedBefore: number | undefined;
    let crashes = 0;
    for (let round = 1; round <= rounds; round++) {
      for (const [slot, running] of fleet.entries()) {
        // Wait for the maximum number of requests: as many as the workers can run, or as the site allows.
        await Promise.race([gate.held(Math.min(PER_SITE, workers * PER_WORKER)), running.ended]);
        options.signal.throwIfAborted();
        requestedBefore ??= requests().length;
        running.child.kill("SIGTERM");
        fleet[slot] = start();
        gate.raise();
        problems.push(...(await problemsOf(running)));
        crashes += await countCrashes(options);
      }
      options.onRound(round, requests().length);
    }
    const requestedDuringStops = requests().length - (requestedBefore ?? 0);
    gate.open();
    await start("--drain").ended;
    for (const { child } of fleet) child.kill("SIGTERM");
    for (const running of [...fleet, ...all.slice(-1)]) problems.push(...(await problemsOf(running)));
    crashes += await countCrashes(options);
    const records = await recordsOf(id, options);
    const expected = linked.expectedPaths().map((path) => site.url + path);
    return {
      stops: rounds * workers,
      requestedDuringStops,
      requested: requests().length,
      lost: missing(expected, records),
      repeated: [...duplicates(requests()).keys()],
      recordsRepeated: [...duplicates(records).keys()],
      crashes,
      problems,
    };
  } finally {
    for (const { child } of all) child.kill("SIGKILL");
    await site.close();
  }
}

/**
 * Lets `share` requests pass, then delays all further ones until `raise` adds another share. So a worker always has
 * requests under way when it is stopped.
 */
function createRequestGate(share: number) {
  let remaining = share;
  let waiting: (() => void)[] = [];
  let onHeld = () => {};
  function raiseBy(count: number): void {
    remaining += count;
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  }
  return {
    async pass(): Promise<void> {
      while (remaining <= 0) {
        const woken = new Promise<void>((resolve) => waiting.push(resolve));
        onHeld();
        await woken;
      }
      remaining -= 1;
    },
    /** Resolves when this many requests are delayed. */
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

async function problemsOf({ child, output, ended }: Running): Promise<string[]> {
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
    env: { ...Object.fromEntries(clean), TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", ...TIMEOUTS, ...env },
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
