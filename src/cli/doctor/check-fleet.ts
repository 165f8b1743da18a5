/** Whether the workers and the work find each other: every mismatch in words, with what to do about it. */

import { plural } from "../../domain/counted.ts";
import { hasEnded } from "../../domain/job.ts";
import { BUILT_IN_QUEUES } from "../../domain/queue-name.ts";
import type { Finding, JobView, QueueView, WorkerView } from "../../frontier/frontier-admin.ts";
import { shortProcess } from "../../runtime/process-id.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { queuesOfJob } from "../../submit/queues-of-job.ts";
import { isCrawl } from "../crawl/crawl-queue.ts";

export type FleetFacts = {
  workers: readonly WorkerView[];
  queues: readonly QueueView[];
  /** The newest. */
  jobs: readonly JobView[];
  version: string;
  /** What the store is called where it is a file of one machine. */
  storeFile: string | undefined;
};

export function checkFleet(facts: FleetFacts): Finding[] {
  const findings = [
    ...checkQueues(facts),
    ...checkDeserted(facts),
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
  const says = `${plural(workers.length, "worker")}, ${plural(running.length, "submitted job")} running, ${plural(waiting, "URL")} waiting`;
  return { check: "fleet", verdict: "ok", says };
}

/** Queues on which something waits, and nobody listens. */
function checkQueues({ workers, queues, jobs }: FleetFacts): Finding[] {
  const unserved = queues.filter(({ queue }) => !workers.some((worker) => worker.queues.includes(queue)));
  return unserved.map((view) => unservedQueue(view, jobs, workers.length === 0));
}

function unservedQueue({ queue, waiting }: QueueView, jobs: readonly JobView[], isDeserted: boolean): Finding {
  const check = `queue ${queue}`;
  const open = jobs.filter((job) => queuesOfView(job).includes(queue) && !hasEnded(job.state));
  const crawl = open.find(isCrawl);
  if (crawl !== undefined) {
    const says = `${plural(waiting, "URL")} of a crawl that nobody is running`;
    const fix = `go on with it: trawl crawl --resume ${crawl.id}; or drop it: trawl cancel ${crawl.id}`;
    return { check, verdict: "warning", says, fix };
  }
  const [paused] = open;
  if (paused !== undefined && open.every((job) => job.state === "paused")) {
    const says = `${plural(waiting, "URL")}, all of paused jobs, and no worker serves it`;
    return { check, verdict: "warning", says, fix: `resume: trawl resume ${paused.id}; and start a worker on it` };
  }
  const says = `${plural(waiting, "URL")} waiting, and ${isDeserted ? "there is no worker at all" : "no worker serves it"}`;
  return { check, verdict: "problem", says, fix: `start one: trawl worker --queues ${queue}` };
}

/** Jobs that run with nobody there: all they have left is in the hands of workers that are gone, or not submitted yet. */
function checkDeserted({ workers, queues, jobs }: FleetFacts): Finding[] {
  const told = new Set(queues.map(({ queue }) => queue));
  const isTold = (job: JobView) => queuesOfView(job).some((queue) => told.has(queue));
  const stuck = jobs.filter((job) => job.state === "running" && !isCrawl(job) && !isTold(job));
  const [first] = stuck;
  if (first === undefined || workers.length > 0) return [];
  const says = `${plural(stuck.length, "job")} running (${first.id}), and there is no worker at all`;
  const fix = first.sealed
    ? `start one: trawl worker --queues ${queuesOfView(first).join(",")}`
    : `its URLs are not all in: go on with trawl submit --resume ${first.id} LIST, or trawl cancel ${first.id}`;
  return [{ check: "jobs", verdict: "problem", says, fix }];
}

/** A queue that no job has ever named is more often a slip than a wish. */
function checkIdleWorkers({ workers, queues, jobs }: FleetFacts): Finding[] {
  if (jobs.length === 0) return [];
  const fed = new Set([...queues.map(({ queue }) => queue), ...jobs.flatMap(queuesOfView), ...BUILT_IN_QUEUES]);
  const idle = [...new Set(workers.flatMap((worker) => worker.queues))].filter((queue) => !fed.has(queue));
  return idle.map((queue) => {
    const serving = workers.filter((worker) => worker.queues.includes(queue));
    return {
      check: `queue ${queue}`,
      verdict: "warning",
      says: `${plural(serving.length, "worker")} (${namesOf(serving)}) on it, and no job uses it`,
      fix: "compare --queues of the workers with the queue of the jobs",
    };
  });
}

function checkSpiders({ workers }: FleetFacts): Finding[] {
  return workers
    .filter(({ unknownSpiders }) => unknownSpiders.length > 0)
    .map(({ worker, unknownSpiders }) => ({
      check: "spiders",
      verdict: "warning",
      says: `worker ${shortProcess(worker)} cannot load ${unknownSpiders.join(", ")}`,
      fix: "put the module at that very path on its machine, with its packages; then: trawl dead JOB --replay",
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
      says: `this is Trawl ${version}; ${plural(others.length, "worker")} (${namesOf(others)}) on ${found}`,
      fix: "fine while an upgrade is under way; else start them again with this version",
    },
  ];
}

/** Each machine would fill a file of its own, and nobody would see all records. */
function checkMachines({ workers, storeFile }: FleetFacts): Finding[] {
  const machines = new Set(workers.map(({ worker }) => worker.split("/")[0]));
  if (storeFile === undefined || machines.size < 2) return [];
  return [
    {
      check: "store",
      verdict: "warning",
      says: `workers on ${machines.size} machines, and the store is a file: ${storeFile}`,
      fix: "records stay on the machine that fetched them: share one store, TRAWL_STORE=postgres://…, or gather the files",
    },
  ];
}

function queuesOfView({ spec }: JobView): string[] {
  return queuesOfJob(spec as JobSpec);
}

const NAMED = 3;

function namesOf(workers: readonly WorkerView[]): string {
  const names = workers.slice(0, NAMED).map(({ worker }) => shortProcess(worker));
  return workers.length > NAMED ? `${names.join(", ")}, …` : names.join(", ");
}
