/**
 * All jobs of somebody, and what they share, as they go. Whoever follows the same has the same look, and what it costs to
 * tell of it is paid once: names of states with the look, texts with the first who is told; a follower more costs little
 * but its connection.
 */
import { hasEnded } from "../../domain/job.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { type ApiDeps, isOwn } from "../api-deps.ts";
import { jobOut } from "../job-out.ts";
import { listJobs, listOpenJobs } from "../list-jobs.ts";
import type { Caller } from "../route.ts";
import { queuesOut } from "../wire-fleet.ts";
import { paceOut } from "../wire-history.ts";
import { stateOf } from "./job-events.ts";
import { newest } from "./newest.ts";
import type { Pulse } from "./pulse.ts";
import { digest, eventText, HEARTBEAT, HELLO } from "./sse.ts";

type Deps = Pick<ApiDeps, "frontier" | "catalogue" | "store" | "clock"> & { pulse: Pulse };
type Listener = { caller: Caller; lastId: string | undefined; signal: AbortSignal };

/**
 * `jobs` first with the newest of the caller's and all that have not ended, then with those that have changed and the ids of
 * those that are `gone`: deleted, or ended and no longer of the newest. `more` says of what there are others. For an operator
 * `fleet` too, with queues, workers and their pace.
 */
export async function* allEvents(deps: Deps, { caller, lastId, signal }: Listener): AsyncGenerator<string> {
  const { tenant } = caller;
  const following = deps.pulse.follow(tenant === undefined ? "all" : `all of ${tenant}`, lookAtAll(deps, caller));
  const isOperator = caller.scopes.includes("admin");
  let told: Look["states"] | undefined;
  let fleetTold: string | undefined;
  try {
    yield HELLO;
    for await (const seen of newest(following, signal)) {
      if (seen === "silence") yield HEARTBEAT;
      else {
        const isKnown = told === undefined && seen.id === lastId;
        const text = isKnown ? undefined : seen.jobsText(told);
        if (text !== undefined) yield text;
        told = seen.states;
        if (isOperator && seen.fleetText !== fleetTold) yield seen.fleetText;
        fleetTold = seen.fleetText;
      }
    }
  } finally {
    following.stop();
  }
}

/** Jobs that one look is about: of the newest, where those of a tenant are looked at one by one, and of those under way. */
const JOBS_MOST = 200;
const OWN_JOBS_MOST = 50;
const OPEN_MOST = 200;

type Look = {
  /** A name for how all of them are. */
  id: string;
  /** How each is, by its id. */
  states: ReadonlyMap<string, string>;
  /** What is new to somebody who knows of these states; undefined if nothing is. */
  jobsText(told: Look["states"] | undefined): string | undefined;
  fleetText: string;
};

/** The newest jobs, those that have not ended, and older ones that had not when last looked at. */
function lookAtAll(deps: Deps, caller: Caller): () => Promise<Look> {
  const { frontier, catalogue, clock } = deps;
  const limit = caller.tenant === undefined ? JOBS_MOST : OWN_JOBS_MOST;
  let underWay: string[] = [];
  return async () => {
    const [all, open, queues, workers] = await Promise.all([
      listJobs(deps, caller, { limit }),
      listOpenJobs(deps, caller, OPEN_MOST),
      frontier.listQueues(),
      frontier.listWorkers(),
    ]);
    const known = new Map([...open.jobs, ...all.jobs].map((job) => [job.id, job]));
    const others = underWay.filter((id) => !known.has(id)).slice(0, limit);
    const older = await Promise.all(others.map((id) => catalogue.find(id)));
    const found = [...known.values(), ...older.filter((job) => job !== undefined)];
    const jobs = found.filter((job) => isOwn(job, caller)).sort((one, other) => other.createdAt - one.createdAt);
    const more = { open: open.next !== null, ended: all.next !== null };
    underWay = jobs.filter(({ state }) => !hasEnded(state)).map(({ id }) => id);
    const now = clock.now();
    const pace = paceOut(queues, workers, now);
    const fleet = { queues: queuesOut(queues, workers), workers: workers.length, pace };
    return lookOf({ jobs, more, fleetText: eventText("fleet", fleet) }, now);
  };
}

type Seen = { jobs: readonly JobView[]; more: { open: boolean; ended: boolean }; fleetText: string };

function lookOf({ jobs, more, fleetText }: Seen, now: number): Look {
  const states = new Map(jobs.map((job) => [job.id, stateOf(job)]));
  const id = digest([...states]);
  const texts = new Map<Look["states"] | undefined, string | undefined>();
  function textFor(told: Look["states"] | undefined): string | undefined {
    const changed = jobs.filter((job) => told?.get(job.id) !== states.get(job.id));
    const gone = [...(told?.keys() ?? [])].filter((job) => !states.has(job));
    if (told !== undefined && changed.length === 0 && gone.length === 0) return undefined;
    return eventText("jobs", { jobs: changed.map((job) => jobOut(job, now)), gone, more }, id);
  }
  return {
    ...{ id, states, fleetText },
    jobsText(told) {
      // Most were told of the look before this one: they get the very same text.
      if (!texts.has(told)) texts.set(told, textFor(told));
      return texts.get(told);
    },
  };
}
