/**
 * The events of one job. An event contains the whole state of the job, not a change, so a client that missed events is
 * up to date after the next one. The event id is a digest of the job's state in the broker. All servers compute the
 * same id for the same state, so a client that reconnects with its last id, to any server, only gets newer states.
 */
import { jobOut } from "../../control/views/job.ts";
import { hasEnded } from "../../domain/job.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import type { ApiDeps } from "../api-deps.ts";
import type { SharedPoller } from "./shared-poller.ts";
import { digest, eventText, HEARTBEAT, HELLO, withHeartbeats } from "./sse.ts";

type Deps = Pick<ApiDeps, "catalogue" | "clock"> & { poller: SharedPoller };
type Listener = { lastId: string | undefined; signal: AbortSignal };

/** Sends `job` on every change, and `end` as the last event. */
export async function* jobEvents(
  { catalogue, clock, poller }: Deps,
  id: string,
  { lastId, signal }: Listener,
): AsyncGenerator<string> {
  const subscription = poller.subscribe(`job ${id}`, () => catalogue.find(id));
  try {
    yield HELLO;
    let sentState = lastId;
    for await (const job of withHeartbeats(subscription, signal)) {
      if (job === undefined) return; // the job was deleted
      if (job === "heartbeat") yield HEARTBEAT;
      else {
        const isOver = hasEnded(job.state);
        const state = stateOf(job);
        if (state !== sentState || isOver) yield eventText(isOver ? "end" : "job", jobOut(job, clock.now()), state);
        if (isOver) return;
        sentState = state;
      }
    }
  } finally {
    subscription.stop();
  }
}

/** Whether a client with this last event id has received the end of the job. */
export function hasSeenEnd(job: JobView, lastId: string | undefined): boolean {
  return hasEnded(job.state) && stateOf(job) === lastId;
}

/** A digest of the job's state. It excludes rates and estimates, which change all the time. */
export function stateOf({ state, sealed, priority, counts, tally, finishedAt }: Omit<JobView, "id">): string {
  return digest([state, sealed, priority, counts, tally, finishedAt === undefined ? 0 : 1]);
}
