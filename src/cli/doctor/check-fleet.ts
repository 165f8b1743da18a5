/** Checks that workers, queues, jobs, versions and the store are consistent. Each finding has a fix. */

import { isCrawl } from "../../domain/crawl-queue.ts";
import { plural } from "../../domain/format-number.ts";
import { hasEnded } from "../../domain/job.ts";
import { BUILT_IN_QUEUES, regionOfQueue, startText } from "../../domain/queue-name.ts";
import type { Finding, JobView, QueueView, WorkerView } from "../../frontier/frontier-admin.ts";
import { shortProcess } from "../../runtime/process-identity.ts";
import { queuesOfJob } from "../../submit/queues-of-job.ts";

export type FleetFacts = {
  workers: readonly WorkerView[];
  queues: readonly QueueView[];
  /** The newest jobs. */
  jobs: readonly JobView[];
  version: string;
  /** The store's connection URL if it is a local file. */
  storeFile: string | undefined;
};

export function checkFleet(facts: FleetFacts): Finding[] {
  const findings = [
    ...checkQueues(facts),
    ...checkStuckJobs(facts),
    ...checkIdleWorkers(facts),
    ...checkSpiders(facts),
    ...checkVersions(facts),
    ...checkMachines(facts),
  ];
  return [summary(facts), ...findings];
}

function summary({ workers, queues, jobs }: FleetFacts): Finding {
  const running = jobs.filter((job) => job.state === "running" && !isCrawl(job));
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0);
  const message = `${plural(workers.length, "worker")}, ${plural(running.length, "submitted job")} running, ${plural(waiting, "URL")} waiting`;
  return { check: "fleet", verdict: "ok", message };
}

/** Reports queues with waiting URLs that no worker serves. */
function checkQueues({ workers, queues, jobs }: FleetFacts): Finding[] {
  const unserved = queues.filter(({ queue }) => !workers.some((worker) => worker.queues.includes(queue)));
  return unserved.map((view) => unservedQueue(view, jobs, workers.length === 0));
}

function unservedQueue({ queue, waiting }: QueueView, jobs: readonly JobView[], hasNoWorkers: boolean): Finding {
  const check = `queue ${queue}`;
  const open = jobs.filter((job) => queuesOfView(job).includes(queue) && !hasEnded(job.state));
  const crawl = open.find(isCrawl);
  if (crawl !== undefined) {
    const message = `${plural(waiting, "URL")} of an interrupted crawl`;
    const fix = `continue it with: trawl crawl --resume ${crawl.id}; or cancel it with: trawl cancel ${crawl.id}`;
    return { check, verdict: "warning", message, fix };
  }
  const [paused] = open;
  if (paused !== undefined && open.every((job) => job.state === "paused")) {
    const message = `${plural(waiting, "URL")} of paused jobs waiting, and no worker serves the queue`;
    const fix = `resume the job with: trawl resume ${paused.id}; then ${startText([queue], "a worker")}`;
    return { check, verdict: "warning", message, fix };
  }
  const message = `${plural(waiting, "URL")} waiting, and ${hasNoWorkers ? "no worker is running" : "no worker serves the queue"}`;
  return { check, verdict: "problem", message, fix: startText([queue]) };
}

/**
 * Reports running jobs without waiting URLs while no worker runs: their remaining URLs are leased to workers that have
 * stopped, or the submission is incomplete. `checkQueues` reports jobs with waiting URLs.
 */
function checkStuckJobs({ workers, queues, jobs }: FleetFacts): Finding[] {
  const waiting = new Set(queues.map(({ queue }) => queue));
  const isReported = (job: JobView) => queuesOfView(job).some((queue) => waiting.has(queue));
  const stuck = jobs.filter((job) => job.state === "running" && !isCrawl(job) && !isReported(job));
  const [first] = stuck;
  if (first === undefined || workers.length > 0) return [];
  const ids = stuck.length > 1 ? `${first.id}, …` : first.id;
  const message = `${plural(stuck.length, "job")} running (${ids}), and no worker is running`;
  const fix = first.sealed
    ? startText(queuesOfView(first))
    : `the submission of ${first.id} is incomplete; continue it with: trawl submit --resume ${first.id} LIST; or cancel it with: trawl cancel ${first.id}`;
  return [{ check: "jobs", verdict: "problem", message, fix }];
}

/** Reports workers that serve a queue which no job uses: usually a typing error. */
function checkIdleWorkers({ workers, queues, jobs }: FleetFacts): Finding[] {
  if (jobs.length === 0) return [];
  const fed = new Set([...queues.map(({ queue }) => queue), ...jobs.flatMap(queuesOfView), ...BUILT_IN_QUEUES]);
  // The queues of regions follow from the proxies of a worker, so they cannot be misspelled.
  const named = workers.flatMap((worker) => worker.queues).filter((queue) => regionOfQueue(queue).region === undefined);
  const idle = [...new Set(named)].filter((queue) => !fed.has(queue));
  return idle.map((queue) => {
    const serving = workers.filter((worker) => worker.queues.includes(queue));
    return {
      check: `queue ${queue}`,
      verdict: "warning",
      message: `served by ${plural(serving.length, "worker")} (${namesOf(serving)}), but no job uses this queue`,
      fix: "check the spelling: compare --queues of the workers with the queue of the jobs",
    };
  });
}

function checkSpiders({ workers }: FleetFacts): Finding[] {
  return workers
    .filter(({ unknownSpiders }) => unknownSpiders.length > 0)
    .map(({ worker, unknownSpiders }) => ({
      check: "spiders",
      verdict: "warning",
      message: `worker ${shortProcess(worker)} cannot load ${unknownSpiders.join(", ")}`,
      fix: "copy the module and its packages to the same path on the worker's machine, or correct the module; then: trawl dead JOB --replay",
    }));
}

function checkVersions({ workers, version }: FleetFacts): Finding[] {
  const others = workers.filter((worker) => worker.version !== version);
  if (others.length === 0) return [];
  const found = [...new Set(others.map((worker) => worker.version))].sort().join(", ");
  return [
    {
      check: "versions",
      verdict: "warning",
      message: `${plural(others.length, "worker")} (${namesOf(others)}) with another version of Trawl (${found}) than this command (${version})`,
      fix: `this is normal during an upgrade; otherwise restart these workers with Trawl ${version}`,
    },
  ];
}

/**
 * Reports workers on several machines with a file as store: each machine writes its own file, and no file has all
 * records.
 */
function checkMachines({ workers, storeFile }: FleetFacts): Finding[] {
  const machines = new Set(workers.map(({ worker }) => worker.split("/")[0]));
  if (storeFile === undefined || machines.size < 2) return [];
  return [
    {
      check: "store",
      verdict: "warning",
      message: `workers run on ${machines.size} machines, but the store is a file: ${storeFile}`,
      fix: "each machine stores its own records; share one store with TRAWL_STORE=postgres://…, or collect the files",
    },
  ];
}

function queuesOfView({ spec }: JobView): string[] {
  return queuesOfJob(spec);
}

const NAMED = 3;

function namesOf(workers: readonly WorkerView[]): string {
  const names = workers.slice(0, NAMED).map(({ worker }) => shortProcess(worker));
  return workers.length > NAMED ? `${names.join(", ")}, …` : names.join(", ");
}
