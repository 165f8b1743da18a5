/**
 * What goes on, as it goes on: jobs and fleet as signals, from the one stream of /v1/events. No page opens a stream of its
 * own. While the server is away what was known stays, and when it is back the stream says what has changed.
 */
import { batch, effect, signal } from "@preact/signals";
import type { QueueOut } from "../../src/api/wire-fleet.ts";
import type { PaceOut } from "../../src/api/wire-history.ts";
import type { JobOut } from "../../src/client/client.ts";
import { createShare, type Told } from "./live-share.ts";
import { followEvents } from "./live-stream.ts";
import { baseUrl, rawRequests, session } from "./session.ts";
import { isVisible } from "./visible.ts";

export type Fleet = { queues: QueueOut[]; workers: number; pace: PaceOut };
export type Connection = { state: "connecting" } | { state: "live" } | { state: "away"; nextTryAt: number };

/** The newest 200 (of a tenant 50) and up to 200 under way, by id; undefined until they are known. */
export const liveJobs = signal<ReadonlyMap<string, JobOut> | undefined>(undefined);
/** Whether there are others: such as are under way, and such as have ended. */
export const moreJobs = signal<MoreJobs>({ open: false, ended: false });
/** Of other jobs, what the last answer has said that was about one of them. */
export const notedJobs = signal<ReadonlyMap<string, JobOut>>(new Map());
/** Only for operators. */
export const fleet = signal<Fleet | undefined>(undefined);
/** When workers went that had not taken their leave, where somebody has looked at them in this tab. */
export const lostAt = signal<readonly number[]>([]);
export const connection = signal<Connection>({ state: "connecting" });
/** How often the server has come back: what was asked for meanwhile is worth asking again. */
export const comeBacks = signal(0);

type MoreJobs = { open: boolean; ended: boolean };
/** `isAll`: none but these are followed. A tab that was opened before an upgrade does not tell of `more`. */
type JobsTold = { jobs: JobOut[]; gone: string[]; more?: MoreJobs; isAll?: boolean };

/** A tab that is looked away from for a moment keeps its stream. */
const HIDDEN_MS = 10_000;
const STATE = "connection";

export function startLive(): void {
  let leaving: AbortController | undefined;
  let followed = "";
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    leaving?.abort();
    leaving = undefined;
  };
  effect(() => {
    const now = session.value;
    clearTimeout(hiding);
    if (now.state !== "signed-in") {
      stop();
      forget();
    } else if (isVisible.value) {
      const keyId = now.me.keyId ?? "open";
      // Somebody else has come in, or the same with another key: what the old one may see is over.
      if (keyId !== followed) stop();
      followed = keyId;
      leaving ??= follow(keyId);
    } else {
      hiding = setTimeout(stop, HIDDEN_MS);
    }
  });
}

/** Keys see different things: tabs share a stream only where they are signed in with the same one. */
function follow(keyId: string): AbortController {
  const leaving = new AbortController();
  let isFirst = true;
  const share = createShare(`trawl-live ${baseUrl()} ${keyId}`, { onTold: apply, snapshot });
  const read = (tell: (told: Told) => void, signal: AbortSignal) =>
    followEvents(
      rawRequests(),
      {
        onOpen() {
          isFirst = true;
          tell({ name: STATE, value: { state: "live" } });
        },
        onEvent(name, value) {
          // What a stream begins with is all there is; what was deleted meanwhile is not of it.
          const isAll = name === "jobs" && isFirst;
          if (isAll) isFirst = false;
          tell({ name, value: isAll ? { ...(value as JobsTold), isAll } : value });
        },
        onAway: (_error, waitMs) => tell({ name: STATE, value: { state: "away", nextTryAt: Date.now() + waitMs } }),
      },
      signal,
    );
  void share.run(read, leaving.signal);
  return leaving;
}

function apply({ name, value }: Told): void {
  if (name === STATE) note(value as Connection);
  else if (name === "fleet") fleet.value = value as Fleet;
  else if (name === "jobs") applyJobs(value as JobsTold);
}

function applyJobs(told: JobsTold): void {
  batch(() => {
    liveJobs.value = withJobs(liveJobs.peek(), told);
    const before = moreJobs.peek();
    const { open, ended } = told.more ?? before;
    if (open !== before.open || ended !== before.ended) moreJobs.value = { open, ended };
  });
}

function note(next: Connection): void {
  if (connection.peek().state === "away" && next.state === "live") comeBacks.value += 1;
  connection.value = next;
}

function snapshot(): Told[] {
  const told: Told[] = [{ name: STATE, value: connection.peek() }];
  const jobs = liveJobs.peek();
  if (jobs !== undefined)
    told.push({ name: "jobs", value: { jobs: [...jobs.values()], gone: [], more: moreJobs.peek(), isAll: true } });
  if (fleet.peek() !== undefined) told.push({ name: "fleet", value: fleet.peek() });
  return told;
}

/** What an answer has said of a job: known before the stream says it, too. Of others the stream would never say more. */
export function noteJob(job: JobOut): void {
  const noted = liveJobs.peek()?.has(job.id) === true ? liveJobs : notedJobs;
  noted.value = new Map([...(noted.peek() ?? []), [job.id, job]]);
}

function withJobs(known: ReadonlyMap<string, JobOut> | undefined, { jobs, gone, isAll = false }: JobsTold) {
  const next = new Map(isAll ? [] : known);
  for (const job of jobs) next.set(job.id, job);
  for (const id of gone) next.delete(id);
  return next;
}

function forget(): void {
  liveJobs.value = undefined;
  lostAt.value = [];
  notedJobs.value = new Map();
  fleet.value = undefined;
  connection.value = { state: "connecting" };
}
