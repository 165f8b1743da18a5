/**
 * Live state as signals: jobs, fleet and connection, all from the one stream of /v1/events. Pages read these signals
 * and never open a stream. While the connection is lost the last known state stays; a new stream starts with the
 * complete state, so no change is missed.
 */
import { batch, effect, signal } from "@preact/signals";
import type { JobOut } from "../../src/client/client.ts";
import type { PaceOut, QueueOut } from "../../src/client/wire-types.ts";
import { followEvents } from "./event-stream.ts";
import { baseUrl, rawRequests, session } from "./session.ts";
import { createSharedStream, type LiveMessage } from "./shared-stream.ts";
import { isVisible } from "./visible.ts";

export type FleetState = { queues: QueueOut[]; workers: number; pace: PaceOut };
type Connection = { state: "connecting" } | { state: "live" } | { state: "lost"; nextAttemptAt: number };

/** By id: the newest 200 jobs (50 for a tenant) and up to 200 active ones. Undefined until the stream has sent them. */
export const liveJobs = signal<ReadonlyMap<string, JobOut> | undefined>(undefined);
/** Whether there are active jobs (`open`) and ended jobs that the stream does not send. */
export const moreJobs = signal<MoreJobs>({ open: false, ended: false });
/** Jobs that the stream does not send, as the last API response returned them. */
export const updatedJobs = signal<ReadonlyMap<string, JobOut>>(new Map());
/** Only sent to keys with the scope admin. */
export const fleet = signal<FleetState | undefined>(undefined);
/** When workers disappeared without a clean shutdown. Only known after the Workers page was open in this tab. */
export const lostAt = signal<readonly number[]>([]);
export const connection = signal<Connection>({ state: "connecting" });
/** How often the connection was restored. Polls run again when it changes. */
export const reconnects = signal(0);

type MoreJobs = { open: boolean; ended: boolean };
/**
 * `isAll`: the list is complete. `more` is missing if a tab with an older version of the dashboard reads the stream.
 */
type JobsMessage = { jobs: JobOut[]; gone: string[]; more?: MoreJobs; isAll?: boolean };

/** A tab keeps its stream for this long after it was hidden. */
const HIDDEN_MS = 10_000;
const CONNECTION = "connection";

export function startLive(): void {
  let abort: AbortController | undefined;
  let followedKey = "";
  let hideTimer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    abort?.abort();
    abort = undefined;
  };
  effect(() => {
    const now = session.value;
    clearTimeout(hideTimer);
    if (now.state !== "signed-in") {
      stop();
      reset();
    } else if (isVisible.value) {
      const keyId = now.me.keyId ?? "open";
      // Another key may have access to other jobs.
      if (keyId !== followedKey) stop();
      followedKey = keyId;
      abort ??= follow(keyId);
    } else {
      hideTimer = setTimeout(stop, HIDDEN_MS);
    }
  });
}

/** Keys have access to different jobs, so only tabs that are signed in with the same key share a stream. */
function follow(keyId: string): AbortController {
  const abort = new AbortController();
  let isFirst = true;
  const shared = createSharedStream(`trawl-live ${baseUrl()} ${keyId}`, { onMessage: apply, snapshot });
  const read = (publish: (message: LiveMessage) => void, signal: AbortSignal) =>
    followEvents(
      rawRequests(),
      {
        onOpen() {
          isFirst = true;
          publish({ name: CONNECTION, value: { state: "live" } });
        },
        onEvent(name, value) {
          // The first event of a stream is the complete list: jobs that are not in it were deleted.
          const isAll = name === "jobs" && isFirst;
          if (isAll) isFirst = false;
          publish({ name, value: isAll ? { ...(value as JobsMessage), isAll } : value });
        },
        onDisconnect: (_error, waitMs) =>
          publish({ name: CONNECTION, value: { state: "lost", nextAttemptAt: Date.now() + waitMs } }),
      },
      signal,
    );
  void shared.run(read, abort.signal);
  return abort;
}

function apply({ name, value }: LiveMessage): void {
  if (name === CONNECTION) applyConnection(value as Connection);
  else if (name === "fleet") fleet.value = value as FleetState;
  else if (name === "jobs") applyJobs(value as JobsMessage);
}

function applyJobs(message: JobsMessage): void {
  batch(() => {
    liveJobs.value = withJobs(liveJobs.peek(), message);
    const before = moreJobs.peek();
    const { open, ended } = message.more ?? before;
    if (open !== before.open || ended !== before.ended) moreJobs.value = { open, ended };
  });
}

function applyConnection(next: Connection): void {
  if (connection.peek().state === "lost" && next.state === "live") reconnects.value += 1;
  connection.value = next;
}

function snapshot(): LiveMessage[] {
  const messages: LiveMessage[] = [{ name: CONNECTION, value: connection.peek() }];
  const jobs = liveJobs.peek();
  if (jobs !== undefined)
    messages.push({ name: "jobs", value: { jobs: [...jobs.values()], gone: [], more: moreJobs.peek(), isAll: true } });
  if (fleet.peek() !== undefined) messages.push({ name: "fleet", value: fleet.peek() });
  return messages;
}

/** Stores the state of a job from an API response, because the stream sends it later or not at all. */
export function updateJob(job: JobOut): void {
  const target = liveJobs.peek()?.has(job.id) === true ? liveJobs : updatedJobs;
  target.value = new Map([...(target.peek() ?? []), [job.id, job]]);
}

function withJobs(known: ReadonlyMap<string, JobOut> | undefined, { jobs, gone, isAll = false }: JobsMessage) {
  const next = new Map(isAll ? [] : known);
  for (const job of jobs) next.set(job.id, job);
  for (const id of gone) next.delete(id);
  return next;
}

function reset(): void {
  liveJobs.value = undefined;
  lostAt.value = [];
  updatedJobs.value = new Map();
  fleet.value = undefined;
  connection.value = { state: "connecting" };
}
