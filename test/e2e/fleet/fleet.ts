/** One folder and one broker, and the commands of a fleet on them, each a process of its own. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { type CliEnd, type CliOptions, lastJson, type RunningCli, startTrawl } from "../cli.ts";
import { newFolder } from "../folder.ts";
import { expectBalanced, type Summary } from "../ledger.ts";
import { linksTo, originOf } from "../sites.ts";

export type FleetBroker = {
  /** TRAWL_* settings of a broker that is empty and nobody else's. */
  fresh(): Promise<Record<string, string>>;
  /** Settings of one that is not there. */
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
  findings: { check: string; verdict: string; says: string; fix?: string }[];
};

/** As fast as the site answers: for tests that are not about politeness. */
export const FAST = ["--rate", "unlimited", "--per-site", "8"];
/** A look is a process: so many take far longer than anything that is waited for. */
const LOOKS_MOST = 100;
/** Between two of them, so that what is waited for has a core to itself. */
const LOOK_EVERY_MS = 150;

/** One folder and one broker, and commands on them. */
export type Fleet = {
  cwd: string;
  run(args: readonly string[], more?: Partial<CliOptions>): Promise<CliEnd>;
  start(args: readonly string[], more?: Partial<CliOptions>): RunningCli;
  /** A worker that may fetch from the sites of these tests, once it says that it has begun. */
  worker(args?: readonly string[], env?: Record<string, string>): Promise<RunningCli>;
  submit(args: readonly string[], more?: Partial<CliOptions>): Promise<Submitted>;
  job(id: string): Promise<Summary>;
  diagnose(): Promise<Diagnosis & { code: number | null }>;
  /** What `look` gives once `isSo` of it. */
  once<T>(look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T>;
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
      await worker.says(/"worker\.started"/);
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
    async once(look, isSo) {
      for (let looks = 0; looks < LOOKS_MOST; looks++) {
        const seen = await look();
        if (isSo(seen)) return seen;
        await sleep(LOOK_EVERY_MS);
      }
      throw new Error(`not so after ${LOOKS_MOST} looks`);
    },
  };
}

/** A site whose page /slow is answered only once it is opened. */
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
