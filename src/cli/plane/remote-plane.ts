/** The control plane that calls a server over HTTP, with the client library. */

import { connect, isApiError, type Trawl } from "../../client/client.ts";
import type { DeadFilter as FilterOut, TraceTarget as TraceQuery } from "../../client/fleet.ts";
import { createRequests, type Requests } from "../../client/requests.ts";
import type { InvalidOut, RecordOut } from "../../client/wire-types.ts";
import type { DeadFilter } from "../../frontier/frontier-admin.ts";
import type { Intake } from "../../submit/submit-urls.ts";
import type { TraceTarget } from "../../trace/find-traced.ts";
import {
  type ControlPlane,
  HISTORY_MS,
  type KeyControl,
  type ScheduleControl,
  withOtherSites,
} from "./control-plane.ts";
import {
  deadFrom,
  deadGroupFrom,
  explainedFrom,
  keyFrom,
  recordFrom,
  runFrom,
  scheduleFrom,
  workerFrom,
} from "./decode-wire.ts";
import { remoteError } from "./remote-error.ts";
import { openRemoteIntake } from "./remote-intake.ts";

type Server = {
  url: string;
  key: string | undefined;
  tries: number;
  onWait: (error: unknown, ms: number) => void;
};

/** Dead letters per request. */
const MAX_DEAD = 1_000_000;
const MAX_PAGE = 500;
const MAX_RECORDS = 1_000;
/** The interval is longer than in the direct plane, because every poll is an HTTP request. */
const POLL_EVERY_MS = 1_000;

export function createRemotePlane({ url, key, tries, onWait }: Server): ControlPlane {
  const options = { tries, onWait, ...(key === undefined ? {} : { key }) };
  const trawl = connect(url, options);
  const requests = createRequests(url, options);
  return coded(url, {
    findJob: (id) => trawl.job(id).state().catch(undefinedIfMissing),
    listJobs: (limit, { q, state }) =>
      take(
        trawl.jobs({
          page: Math.min(limit, MAX_PAGE),
          ...(q === undefined ? {} : { q }),
          ...(state === undefined ? {} : { state }),
        }),
        limit,
      ),
    controlJob: (id, verb) => trawl.job(id)[verb](),
    changeJob: (id, change) => trawl.job(id).change(change),
    async deleteJob(id, { cancel }) {
      await trawl.job(id).delete({ cancel });
      return { isWhole: false };
    },
    listJobSites: ({ id }, limit) => take(trawl.job(id).sites({ page: Math.min(limit, MAX_PAGE) }), limit),
    findWebhook: (jobId) => trawl.job(jobId).webhook().catch(undefinedIfMissing),
    async listDead(filter, limit) {
      const letters = trawl.dead.list(filterOut(filter), { page: Math.min(limit, MAX_PAGE) });
      return (await take(letters, limit)).map(deadFrom);
    },
    groupDead: async (filter, limit) =>
      (await trawl.dead.groups(filterOut(filter), { limit: Math.min(limit, MAX_PAGE) })).groups.map(deadGroupFrom),
    replayDead: (filter, perSecond) =>
      untilFewer((limit) => trawl.dead.replay(filterOut(filter), { limit, perSecond })),
    discardDead: (filter) => untilFewer((limit) => trawl.dead.discard(filterOut(filter), { limit })),
    explain: async (target) => explainedFrom(await trawl.explain("jobId" in target ? { job: target.jobId } : target)),
    trace: ({ kind, query, jobId: job }) =>
      trawl.trace({ ...TRACE_QUERIES[kind](query), ...(job === undefined ? {} : { job }) }),
    listWorkers: async () => (await trawl.workers()).map(workerFrom),
    sendWorkerCommand: (name, command) => trawl.command(name, command),
    listQueues: () => trawl.queues(),
    async listTopSites(limit) {
      const busy = await take(trawl.sites.list({ sort: "waiting", page: limit }), limit);
      return withOtherSites(busy, limit, () => take(trawl.sites.list({ page: limit }), limit));
    },
    async readHistory() {
      const from = new Date(Date.now() - HISTORY_MS).toISOString();
      return (await trawl.history({ from, step: "10s" })).points;
    },
    records: createRecords(requests),
    keys: createKeyControl(trawl),
    schedules: createScheduleControl(trawl),
    openIntake: async (request) => codedIntake(url, await openRemoteIntake(requests, request)),
    pollEveryMs: POLL_EVERY_MS,
  });
}

const TRACE_QUERIES: Readonly<Record<TraceTarget["kind"], (word: string) => TraceQuery>> = {
  any: (what) => ({ what }),
  url: (url) => ({ url }),
  job: (job) => ({ job }),
  task: (task) => ({ task }),
  request: (request) => ({ request }),
};

/**
 * Reads records in pages, by record id. After a lost connection the page is read again, so an export has each record
 * once.
 */
function createRecords(requests: Requests): ControlPlane["records"] {
  const pathOf = (jobId: string, what: string, afterId: number, limit: number) =>
    `/v1/jobs/${encodeURIComponent(jobId)}/${what}?afterId=${afterId}&limit=${Math.min(limit, MAX_RECORDS)}`;
  return {
    async readRecords(jobId, afterId, limit) {
      const path = pathOf(jobId, "records", afterId, limit);
      const { records, ids } = await requests.json<{ records: RecordOut[]; ids: number[] }>(path);
      return records.map((record, nth) => recordFrom(ids[nth] ?? 0, record));
    },
    async readInvalid(jobId, afterId, limit) {
      const path = pathOf(jobId, "invalid", afterId, limit);
      const { invalid, ids } = await requests.json<{ invalid: InvalidOut[]; ids: number[] }>(path);
      return invalid.map(({ _url: url, _reason: reason, ...fields }, nth) => ({
        ...{ id: ids[nth] ?? 0, taskId: "", url, reason },
        fields: fields as Awaited<ReturnType<ControlPlane["records"]["readInvalid"]>>[number]["fields"],
      }));
    },
  };
}

function createKeyControl({ keys }: Trawl): KeyControl {
  return {
    list: async () => (await take(keys.list())).map(keyFrom),
    async add({ name, tenant, scopes, quotas: { pending, urlsPerSecond, jobs }, expiresAt }) {
      const quotas = { pending: pending ?? null, urlsPerSecond: urlsPerSecond ?? null, jobs: jobs ?? null };
      const expiry = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
      const body = { name, tenant: tenant ?? null, scopes: [...scopes], quotas, expiresAt: expiry };
      const { key: secret, ...made } = await keys.add(body);
      return { key: keyFrom(made), secret };
    },
    revoke: async (id) => keyFrom(await keys.revoke(id)),
  };
}

function createScheduleControl({ schedules }: Trawl): ScheduleControl {
  return {
    list: async () => (await take(schedules.list())).map(scheduleFrom),
    get: async (id) => scheduleFrom(await schedules.get(id)),
    add: async (input) => scheduleFrom(await schedules.add(input)),
    pause: async (id) => scheduleFrom(await schedules.pause(id)),
    resume: async (id) => scheduleFrom(await schedules.resume(id)),
    runNow: async (id) => runFrom(id, await schedules.run(id)),
    remove: (id) => schedules.remove(id),
    next: async (id, max) => (await schedules.next(id, max)).map((at) => Date.parse(at)),
    listRuns: async (id, limit) =>
      (await take(schedules.runs(id, { page: limit }), limit)).map((run) => runFrom(id, run)),
  };
}

/** Converts the errors of all functions to TrawlError. */
function coded<T extends object>(url: string, parts: T): T {
  const entries = Object.entries(parts).map(([name, part]): [string, unknown] => {
    if (typeof part === "object") return [name, coded(url, part)];
    if (typeof part !== "function") return [name, part];
    const call = async (...args: unknown[]) => {
      try {
        return await part(...args);
      } catch (error) {
        throw remoteError(error, url);
      }
    };
    return [name, call];
  });
  return Object.fromEntries(entries) as T;
}

/** Like `coded`, for an intake. `prepare` stays synchronous, because it sends no request. */
function codedIntake(url: string, { job, maxBatch, prepare, ...calls }: Intake): Intake {
  return { ...coded(url, calls), job, maxBatch, prepare };
}

function undefinedIfMissing(error: unknown): undefined {
  if (isApiError(error, "NOT_FOUND")) return undefined;
  throw error;
}

async function take<T>(all: AsyncIterable<T>, max = Number.POSITIVE_INFINITY): Promise<T[]> {
  const taken: T[] = [];
  for await (const one of all) {
    taken.push(one);
    if (taken.length >= max) break;
  }
  return taken;
}

/** Repeats a request with a limit until it processes fewer entries than the limit. */
async function untilFewer(send: (limit: number) => Promise<number>): Promise<number> {
  for (let sum = 0; ; ) {
    const done = await send(MAX_DEAD);
    sum += done;
    if (done < MAX_DEAD) return sum;
  }
}

function filterOut({ jobId, ...rest }: DeadFilter): FilterOut {
  return { ...rest, ...(jobId === undefined ? {} : { job: jobId }) };
}
