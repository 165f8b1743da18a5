/**
 * The events of all jobs of a caller. Callers that follow the same jobs share one poll. Digests are computed once per
 * poll, and each event text once, for the first connection that needs it. So further connections cost little.
 */
import { type Caller, isOwn } from "../../control/caller.ts";
import { listJobs, listOpenJobs } from "../../control/list-jobs.ts";
import { queuesOut } from "../../control/views/fleet.ts";
import { paceOut } from "../../control/views/history.ts";
import { jobOut } from "../../control/views/job.ts";
import { hasEnded } from "../../domain/job.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import type { ApiDeps } from "../api-deps.ts";
import { stateOf } from "./job-events.ts";
import type { SharedPoller } from "./shared-poller.ts";
import { digest, eventText, HEARTBEAT, HELLO, withHeartbeats } from "./sse.ts";

type Deps = Pick<ApiDeps, "frontier" | "catalogue" | "store" | "clock"> & { poller: SharedPoller };
type Listener = { caller: Caller; lastId: string | undefined; signal: AbortSignal };

/**
 * The first `jobs` event contains the caller's newest jobs and the open jobs, which have not ended. Later events
 * contain the jobs that have changed. `gone` lists the ids of jobs that were deleted, and of ended jobs that are no
 * longer among the newest. `more`: whether there are open or ended jobs that the stream does not include. A caller with
 * the scope admin also gets `fleet` events: queues, workers and speed.
 */
export async function* allEvents(deps: Deps, { caller, lastId, signal }: Listener): AsyncGenerator<string> {
  const { tenant } = caller;
  const key = tenant === undefined ? "all" : `all of ${tenant}`;
  const subscription = deps.poller.subscribe(key, createReader(deps, caller));
  const isOperator = caller.scopes.includes("admin");
  let sentStates: Snapshot["states"] | undefined;
  let sentFleet: string | undefined;
  try {
    yield HELLO;
    for await (const snapshot of withHeartbeats(subscription, signal)) {
      if (snapshot === "heartbeat") yield HEARTBEAT;
      else {
        const isKnown = sentStates === undefined && snapshot.id === lastId;
        const text = isKnown ? undefined : snapshot.jobsText(sentStates);
        if (text !== undefined) yield text;
        sentStates = snapshot.states;
        if (isOperator && snapshot.fleetText !== sentFleet) yield snapshot.fleetText;
        sentFleet = snapshot.fleetText;
      }
    }
  } finally {
    subscription.stop();
  }
}

/** The maximum number of newest jobs per poll, for a caller without a tenant. */
const MAX_JOBS = 200;
/** The same for a caller with a tenant. It is lower because these jobs are read by id. */
const MAX_OWN_JOBS = 50;
/** The maximum number of open jobs per poll. */
const MAX_OPEN = 200;

type Snapshot = {
  /** A digest of all jobs in the snapshot. */
  id: string;
  /** The digest of each job, by its id. */
  states: ReadonlyMap<string, string>;
  /** The event for a client that has received these states; undefined if nothing has changed. */
  jobsText(sentStates: Snapshot["states"] | undefined): string | undefined;
  fleetText: string;
};

/** Reads the newest jobs, the open jobs, and older jobs that were open at the last poll. */
function createReader(deps: Deps, caller: Caller): () => Promise<Snapshot> {
  const { frontier, catalogue, clock } = deps;
  const limit = caller.tenant === undefined ? MAX_JOBS : MAX_OWN_JOBS;
  let openIds: string[] = [];
  return async () => {
    const [newest, open, queues, workers] = await Promise.all([
      listJobs(deps, caller, { limit }),
      listOpenJobs(deps, caller, MAX_OPEN),
      frontier.listQueues(),
      frontier.listWorkers(),
    ]);
    const known = new Map([...open.jobs, ...newest.jobs].map((job) => [job.id, job]));
    const otherIds = openIds.filter((id) => !known.has(id)).slice(0, limit);
    const others = await Promise.all(otherIds.map((id) => catalogue.find(id)));
    const found = [...known.values(), ...others.filter((job) => job !== undefined)];
    const jobs = found.filter((job) => isOwn(job, caller)).sort((one, other) => other.createdAt - one.createdAt);
    const more = { open: open.next !== undefined, ended: newest.next !== undefined };
    openIds = jobs.filter(({ state }) => !hasEnded(state)).map(({ id }) => id);
    const now = clock.now();
    const pace = paceOut(queues, workers, now);
    const fleet = { queues: queuesOut(queues, workers), workers: workers.length, pace };
    return snapshotOf({ jobs, more, fleetText: eventText("fleet", fleet) }, now);
  };
}

type JobsAndFleet = { jobs: readonly JobView[]; more: { open: boolean; ended: boolean }; fleetText: string };

function snapshotOf({ jobs, more, fleetText }: JobsAndFleet, now: number): Snapshot {
  const states = new Map(jobs.map((job) => [job.id, stateOf(job)]));
  const id = digest([...states]);
  const texts = new Map<Snapshot["states"] | undefined, string | undefined>();
  function textFor(sentStates: Snapshot["states"] | undefined): string | undefined {
    const changed = jobs.filter((job) => sentStates?.get(job.id) !== states.get(job.id));
    const gone = [...(sentStates?.keys() ?? [])].filter((job) => !states.has(job));
    if (sentStates !== undefined && changed.length === 0 && gone.length === 0) return undefined;
    return eventText("jobs", { jobs: changed.map((job) => jobOut(job, now)), gone, more }, id);
  }
  return {
    ...{ id, states, fleetText },
    jobsText(sentStates) {
      // Most clients have received the same previous snapshot, so they get the same text.
      if (!texts.has(sentStates)) texts.set(sentStates, textFor(sentStates));
      return texts.get(sentStates);
    },
  };
}
