/**
 * Jobs as they go, told as states and not as steps: an event has all there is to say of its job, so one that is missed is
 * made up for by the next, and a reader that is slow or was away gets the newest. An event's id is made of what the broker
 * says of the job: every instance gives the same state the same id, and whoever comes back with it hears only what is new.
 */
import { hasEnded } from "../../domain/job.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { type ApiDeps, isOwn } from "../api-deps.ts";
import { jobOut } from "../job-out.ts";
import { listJobs } from "../list-jobs.ts";
import type { Caller } from "../route.ts";
import { queuesOut } from "../wire-fleet.ts";
import type { Following, Pulse } from "./pulse.ts";
import { digest, eventText, HEARTBEAT, HEARTBEAT_MS, HELLO } from "./sse.ts";

type Deps = Pick<ApiDeps, "frontier" | "catalogue" | "store" | "clock"> & { pulse: Pulse };
type Listener = { caller: Caller; lastId: string | undefined; signal: AbortSignal };

/** One job until it ends: `job` whenever it has changed, `end` as the last. */
export async function* jobEvents(
  { catalogue, clock, pulse }: Deps,
  id: string,
  { lastId, signal }: Pick<Listener, "lastId" | "signal">,
): AsyncGenerator<string> {
  const following = pulse.follow(`job ${id}`, () => catalogue.find(id));
  try {
    yield HELLO;
    let told = lastId;
    for await (const job of newest(following, signal)) {
      if (job === undefined) return; // removed meanwhile
      if (job === "silence") yield HEARTBEAT;
      else {
        const isOver = hasEnded(job.state);
        const state = stateOf(job);
        if (state !== told || isOver) yield eventText(isOver ? "end" : "job", jobOut(job, clock.now()), state);
        if (isOver) return;
        told = state;
      }
    }
  } finally {
    following.stop();
  }
}

/** All jobs of the caller: `jobs` with those that have changed; for an operator `fleet` too, with queues and workers. */
export async function* allEvents(deps: Deps, { caller, lastId, signal }: Listener): AsyncGenerator<string> {
  const { clock, pulse } = deps;
  const { tenant } = caller;
  const following = pulse.follow(tenant === undefined ? "all" : `all of ${tenant}`, lookAtAll(deps, caller));
  const isOperator = caller.scopes.includes("admin");
  const told = new Map<string, string>();
  let fleetTold: string | undefined;
  try {
    yield HELLO;
    let isFirst = true;
    for await (const seen of newest(following, signal)) {
      if (seen === "silence") yield HEARTBEAT;
      else {
        const own = seen.jobs.filter((job) => isOwn(job, caller));
        const id = digest(own.map(({ id, ...job }) => [id, stateOf(job)]));
        const changed = own.filter((job) => told.get(job.id) !== stateOf(job));
        told.clear();
        for (const job of own) told.set(job.id, stateOf(job));
        const isKnown = isFirst && id === lastId;
        isFirst = false;
        if (changed.length > 0 && !isKnown) {
          yield eventText("jobs", { jobs: changed.map((job) => jobOut(job, clock.now())) }, id);
        }
        const fleet = { queues: seen.queues, workers: seen.workers };
        if (isOperator && digest(fleet) !== fleetTold) yield eventText("fleet", fleet);
        fleetTold = digest(fleet);
      }
    }
  } finally {
    following.stop();
  }
}

/** Whether somebody who was told of that state has heard the end. */
export function hasHeardEnd(job: JobView, lastId: string | undefined): boolean {
  return hasEnded(job.state) && stateOf(job) === lastId;
}

/** What follows of a following: the newest each time, or that nothing came for a while. */
async function* newest<T>(following: Following<T>, signal: AbortSignal): AsyncGenerator<T | "silence"> {
  let nth = 0;
  let silentSince = performance.now();
  while (!signal.aborted) {
    const seen = await following.next(nth, HEARTBEAT_MS, signal);
    if (signal.aborted) return;
    nth = seen?.nth ?? nth;
    if (seen !== undefined) yield seen.value;
    // What was seen may have been nothing new: then nothing was sent.
    if (performance.now() - silentSince < HEARTBEAT_MS) continue;
    silentSince = performance.now();
    yield "silence";
  }
}

/** Jobs that one look is about; those of a tenant are looked at one by one. */
const JOBS_MOST = 200;
const OWN_JOBS_MOST = 50;

type All = { jobs: JobView[]; queues: ReturnType<typeof queuesOut>; workers: number };

/** The newest jobs, and older ones that were under way when last looked at. */
function lookAtAll(deps: Deps, caller: Caller): () => Promise<All> {
  const { frontier, catalogue } = deps;
  const limit = caller.tenant === undefined ? JOBS_MOST : OWN_JOBS_MOST;
  let underWay: string[] = [];
  return async () => {
    const [{ jobs: newestJobs }, queues, workers] = await Promise.all([
      listJobs(deps, caller, { limit }),
      frontier.listQueues(),
      frontier.listWorkers(),
    ]);
    const known = new Set(newestJobs.map(({ id }) => id));
    const others = underWay.filter((id) => !known.has(id)).slice(0, limit);
    const older = await Promise.all(others.map((id) => catalogue.find(id)));
    const jobs = [...newestJobs, ...older.filter((job) => job !== undefined)];
    underWay = jobs.filter(({ state }) => !hasEnded(state)).map(({ id }) => id);
    return { jobs, queues: queuesOut(queues, workers), workers: workers.length };
  };
}

/** Rates and times to go are not of it: they change by themselves. */
function stateOf({ state, sealed, priority, counts, tally, finishedAt }: Omit<JobView, "id">): string {
  return digest([state, sealed, priority, counts, tally, finishedAt === undefined ? 0 : 1]);
}
