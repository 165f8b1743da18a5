/**
 * Runs one crawl with a fleet. Worker processes on one broker and store are killed and replaced repeatedly, and so is
 * the broker. At the end, the logs of the sites and the stored records are judged. All files are in the folder of the
 * caller.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { MAIN } from "../../e2e/dist.ts";
import { type Broker, type BrokerKind, startBroker } from "./broker.ts";
import { type FleetJob, submitFleetJob } from "./fleet-job.ts";
import { readFleetLog, type Visit } from "./fleet-log.ts";
import type { FleetNetwork } from "./fleet-network.ts";
import { type FleetVerdict, type JobSummary, judgeFleet } from "./judge-fleet.ts";
import { type PlannedKill, planFleetKills } from "./kill-schedule.ts";
import { jobOf, planWeb, type SitePlan, type WebOptions } from "./sites.ts";
import { startWebProcess, type WebProcess } from "./web-process.ts";
import { startPool, type WorkerPool } from "./worker-pool.ts";

export type FleetOptions = {
  workers: number;
  concurrency: number;
  kills: number;
  brokerKills: number;
  broker: BrokerKind;
  web: Pick<WebOptions, "sites" | "pages" | "seconds">;
  seed: number;
  /** A run that takes longer has failed. */
  timeoutMs: number;
  /** An empty folder, which the caller removes. */
  folder: string;
  network: FleetNetwork;
  onProgress(progress: FleetProgress): void;
};

export type FleetProgress = { seconds: number; visits: number; kills: number; brokerKills: number };

export type FleetRun = FleetVerdict & {
  seed: number;
  kills: number;
  brokerKills: number;
  /** From the start of the first worker to the end of the job. */
  seconds: number;
  /** Source addresses of the requests. */
  machines: string[];
};

type Fleet = { options: FleetOptions; env: Record<string, string>; web: SitePlan[]; log: string; job: FleetJob };

const LEASE_MS = 5_000;
const REPORT_EVERY_MS = 5_000;
const NETWORKS = "127.0.0.0/8,10.77.0.0/16,10.78.0.0/16";

export async function runFleet(options: FleetOptions): Promise<FleetRun> {
  const { folder, network, seed } = options;
  const log = join(folder, "visits.jsonl");
  const web = { ...options.web, sitePrefix: network.sitePrefix, port: 0, seed };
  const server = await startWebProcess(web, log);
  try {
    const broker = await startBroker(options.broker, network, folder);
    try {
      const plan = planWeb({ ...web, port: server.port });
      const env = environmentFor(broker, folder);
      const job = await submitFleetJob(jobOf(plan, seed), { cwd: folder, env });
      return await crawl({ options, env, web: plan, log, job }, server, broker);
    } finally {
      await broker.stop();
    }
  } finally {
    await server.stop();
  }
}

function environmentFor({ url }: Broker, folder: string): Record<string, string> {
  return {
    TRAWL_BROKER: url,
    TRAWL_STORE: `sqlite:${join(folder, "store.db")}`,
    TRAWL_BODIES: "none",
    TRAWL_ALLOW_PRIVATE: NETWORKS,
    TRAWL_LEASE: `${LEASE_MS}ms`,
  };
}

async function crawl(fleet: Fleet, server: WebProcess, broker: Broker): Promise<FleetRun> {
  const { options } = fleet;
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  const pool = startPool(workerOf(fleet), options.workers);
  const progress = setInterval(() => {
    const [kills, brokerKills] = [pool.kills.length, broker.outages.length];
    options.onProgress({ seconds: seconds(), visits: server.arrived(), kills, brokerKills });
  }, REPORT_EVERY_MS);
  try {
    const kills = runKills(killsFor(options), server, pool, broker);
    const end = await fleet.job.end(() => server.arrived() >= options.web.pages, options.timeoutMs);
    const took = seconds();
    const failures = await kills.end();
    await pool.stop();
    await server.stop();
    return await judged(fleet, { ...end, pool, broker, seconds: took, failures });
  } finally {
    clearInterval(progress);
    pool.abort();
  }
}

function killsFor({ seed, kills, brokerKills, workers, web }: FleetOptions): PlannedKill[] {
  return planFleetKills({ seed, kills, brokerKills, workers, visits: web.pages });
}

/**
 * Executes each planned kill when the sites have received that many requests. `end` returns failures of the test
 * itself.
 */
function runKills(plan: readonly PlannedKill[], server: WebProcess, pool: WorkerPool, broker: Broker) {
  const left = [...plan];
  const queues = { worker: Promise.resolve(), broker: Promise.resolve() };
  const failures: string[] = [];
  const execute = (kill: PlannedKill) => (kill.kind === "worker" ? pool.kill(kill.slot) : broker.bounce(kill.downMs));
  server.onProgress((arrived) => {
    while (left[0] !== undefined && left[0].afterVisits <= arrived) {
      const kill = left.shift() as PlannedKill;
      // Kills of one kind happen one after the other. Workers are killed even while the broker is down.
      queues[kill.kind] = queues[kill.kind]
        .then(() => execute(kill))
        .catch((error: unknown) => void failures.push(`${kill.kind}: ${error}`));
    }
  });
  return {
    async end(): Promise<string[]> {
      const skipped = left.splice(0).length;
      await Promise.all([queues.worker, queues.broker]);
      return [...failures, ...(skipped > 0 ? [`${skipped} of ${plan.length} kills did not happen`] : [])];
    },
  };
}

function workerOf({ options, env }: Fleet): (name: string, slot: number) => ChildProcess {
  const { folder, network, concurrency } = options;
  const clean = Object.entries(process.env).filter(([key]) => !/^(TRAWL_|NODE_OPTIONS$|VITEST)/.test(key));
  return (name, slot) => {
    // With `solo`, the killed process is the process that does the work.
    const args = ["worker", "--pool", "solo", "--queues", "fetch", "-c", String(concurrency)];
    const [command = "", ...rest] = network.wrap(slot, [process.execPath, MAIN, ...args]);
    const log = openSync(join(folder, `worker-${slot}.log`), "a");
    const child = spawn(command, rest, {
      cwd: folder,
      env: { ...Object.fromEntries(clean), ...env, TRAWL_USER_AGENT: name },
      stdio: ["ignore", "ignore", log],
    });
    closeSync(log); // the child has its own copy
    return child;
  };
}

type End = {
  job: JobSummary;
  replayed: number;
  pool: WorkerPool;
  broker: Broker;
  seconds: number;
  failures: readonly string[];
};

async function judged(fleet: Fleet, { job, replayed, pool, broker, seconds, failures }: End): Promise<FleetRun> {
  const { options, web, log } = fleet;
  const { workers, concurrency, seed } = options;
  const visits = readFleetLog(log);
  const disruptions = { kills: pool.kills, outages: broker.outages, workers, concurrency, leaseMs: LEASE_MS };
  const verdict = judgeFleet({ web, visits, records: await fleet.job.records(), job, replayed, ...disruptions });
  return {
    ...verdict,
    problems: [...verdict.problems, ...pool.unexpectedExits, ...failures],
    seed,
    kills: pool.kills.length,
    brokerKills: broker.outages.length,
    seconds,
    machines: addressesOf(visits),
  };
}

function addressesOf(visits: readonly Visit[]): string[] {
  return [...new Set(visits.map(({ from }) => from))].sort();
}
