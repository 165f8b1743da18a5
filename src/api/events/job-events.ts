/**
 * A job as it goes, told as states and not as steps: an event has all there is to say of its job, so one that is missed is
 * made up for by the next, and a reader that is slow or was away gets the newest. An event's id is made of what the broker
 * says of the job: every instance gives the same state the same id, and whoever comes back with it hears only what is new.
 */
import { hasEnded } from "../../domain/job.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import type { ApiDeps } from "../api-deps.ts";
import { jobOut } from "../job-out.ts";
import { newest } from "./newest.ts";
import type { Pulse } from "./pulse.ts";
import { digest, eventText, HEARTBEAT, HELLO } from "./sse.ts";

type Deps = Pick<ApiDeps, "catalogue" | "clock"> & { pulse: Pulse };
type Listener = { lastId: string | undefined; signal: AbortSignal };

/** One job until it ends: `job` whenever it has changed, `end` as the last. */
export async function* jobEvents(
  { catalogue, clock, pulse }: Deps,
  id: string,
  { lastId, signal }: Listener,
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

/** Whether somebody who was told of that state has heard the end. */
export function hasHeardEnd(job: JobView, lastId: string | undefined): boolean {
  return hasEnded(job.state) && stateOf(job) === lastId;
}

/** A name for how a job is. Rates and times to go are not of it: they change by themselves. */
export function stateOf({ state, sealed, priority, counts, tally, finishedAt }: Omit<JobView, "id">): string {
  return digest([state, sealed, priority, counts, tally, finishedAt === undefined ? 0 : 1]);
}
