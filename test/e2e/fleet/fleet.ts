/** Runs the commands of a fleet, each in its own process, on one folder and one broker. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { type CliEnd, type CliOptions, lastJson, type RunningCli, startTrawl } from "../cli.ts";
import { newFolder } from "../folder.ts";
import { expectBalanced, type Summary } from "../ledger.ts";
import { linksTo, originOf } from "../sites.ts";

export type FleetBroker = {
  /** TRAWL_* settings of a new, empty broker. */
  fresh(): Promise<Record<string, string>>;
  /** Settings of a broker that does not exist. */
  missing: Readonly<Record<string, string>>;
};

export type Submitted = {
  id: string;
  requestId: string;
  accepted: number;
  duplicates: number;
  refused: Refused[];
} & Summary;
type Refused = { index: number; url: string; reason: string };
export type Diagnosis = {
  healthy: boolean;
  findings: { check: string; verdict: string; message: string; fix?: string }[];
};

/** No rate limit: for tests that are not about politeness. */
export const FAST = ["--rate", "unlimited", "--per-site", "8"];
/** Every poll starts a process, so this many polls take far longer than any condition needs. */
const POLLS_MAX = 100;
/** The pause between two polls, which leaves CPU time to the processes under test. */
const POLL_MS = 150;

export type Fleet = {
  cwd: string;
  run(args: readonly string[], more?: Partial<CliOptions>): Promise<CliEnd>;
  start(args: readonly string[], more?: Partial<CliOptions>): RunningCli;
  /** Starts a worker that may fetch from the local sites, and waits until it has started. */
  worker(args?: readonly string[], env?: Record<string, string>): Promise<RunningCli>;
  submit(args: readonly string[], more?: Partial<CliOptions>): Promise<Submitted>;
  job(id: string): Promise<Summary>;
  diagnose(): Promise<Diagnosis & { code: number | null }>;
  /** Calls `read` repeatedly until `isMet` returns true for its result, and resolves with that result. */
  poll<T>(read: () => Promise<T>, isMet: (result: T) => boolean): Promise<T>;
};

export async function newFleet(broker: FleetBroker): Promise<Fleet> {
  const cwd = newFolder();
  const own = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", ...(await broker.fresh()) };
  const options = ({ env, ...more }: Partial<CliOptions> = {}): CliOptions => ({
    cwd,
    env: { ...own, ...env },
    ...more,
  });
  const start: Fleet["start"] = (args, more) => {
    const running = startTrawl(args, options(more));
    onTestFinished(() => running.kill("SIGKILL"));
    return running;
  };
  const run: Fleet["run"] = (args, more) => start(args, more).ended;
  return {
    cwd,
    start,
    run,
    async worker(args = [], env = {}) {
      const worker = start(["worker", "--json", ...args], { env });
      await worker.prints(/"worker\.started"/);
      return worker;
    },
    async submit(args, more) {
      const end = await run(["submit", "--json", "--quiet", ...args], more);
      expect(end, end.stderr).toMatchObject({ code: 0 });
      return lastJson<Submitted>(end);
    },
    async job(id) {
      const job = lastJson<Summary>(await run(["job", id, "--json"]));
      expectBalanced(job.counts);
      return job;
    },
    async diagnose() {
      const end = await run(["doctor", "--json"]);
      return { ...lastJson<Diagnosis>(end), code: end.code };
    },
    async poll(read, isMet) {
      for (let polls = 0; polls < POLLS_MAX; polls++) {
        const result = await read();
        if (isMet(result)) return result;
        await sleep(POLL_MS);
      }
      throw new Error(`the condition was not met in ${POLLS_MAX} polls`);
    },
  };
}

/** A site that answers /slow only after `open` was called. */
export async function slowSite() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const site = await originOf({
    "/": linksTo("/slow"),
    "/slow": async (_, response) => {
      await opened;
      response.writeHead(200, { "content-type": "text/html" }).end(linksTo("/a", "/b"));
    },
    "/a": "<h1>a</h1>",
    "/b": "<h1>b</h1>",
  });
  return { site, open };
}
