/**
 * Submits to a server over HTTP. The first request creates the job under an idempotency key and contains the first
 * URLs. The other URLs follow in requests of bounded size, and the last request seals the job. Every request can be
 * repeated after a lost response; its URLs then count as duplicates. After a crash, the same command with the same key
 * continues.
 */
import { randomUUID } from "node:crypto";
import { isApiError } from "../../client/api-error.ts";
import { sealJob, sendUrls, type Taken, takenOf } from "../../client/job.ts";
import type { Requests } from "../../client/requests.ts";
import type { JobOut, NewJobOut } from "../../client/wire-types.ts";
import { firstTasks } from "../../submit/first-tasks.ts";
import type { BegunJob, EnqueuedUrls, Intake } from "../../submit/submit-urls.ts";
import { entryOf } from "../../submit/url-entry.ts";
import type { IntakeRequest } from "./control-plane.ts";

/** URLs per request: a few hundred kilobytes, so that repeating a request is cheap. */
const BATCH = 5_000;

export async function openRemoteIntake(
  requests: Requests,
  { spec: local, resume, job, urls, key, requestId }: IntakeRequest,
): Promise<Intake> {
  const spec = resume === undefined ? local : { ...local, ...(await existingJob(requests, resume)) };
  let id = spec.id;
  /** The result of the URLs that were sent with the job. `enqueue` receives the same URLs first. */
  let sentWithJob: Taken | undefined;

  async function create(): Promise<Omit<BegunJob, "isSealed" | "isNew">> {
    const body = { ...job, urls, open: true };
    const headers = {
      "idempotency-key": key ?? randomUUID(),
      ...(requestId === undefined ? {} : { "x-request-id": requestId }),
    };
    sentWithJob = await takenOf(requests.json<NewJobOut>("/v1/jobs", { method: "POST", body, headers }));
    const { webhookSecret = null } = sentWithJob;
    return { id: sentWithJob.id, requestId: sentWithJob.requestId, webhookSecret };
  }

  return {
    job: spec,
    maxBatch: BATCH,
    prepare: (batch) => firstTasks(spec, batch, undefined),
    async begin() {
      const begun = resume === undefined ? await create() : { id, requestId: spec.requestId, webhookSecret: null };
      id = begun.id;
      // Only a key that the user has chosen may belong to an existing job.
      const isSealed = key !== undefined && (await isSealedJob(requests, id));
      return { ...begun, isNew: resume === undefined, isSealed };
    },
    async enqueue(tasks) {
      const before = sentWithJob;
      sentWithJob = undefined;
      if (before !== undefined && (before.retryAfterMs !== undefined || urls.length >= tasks.length)) {
        return enqueuedUrls(before);
      }
      const offset = before === undefined ? 0 : urls.length;
      const rest = tasks.slice(offset).map(entryOf);
      return enqueuedUrls(await sendUrls(requests, id, rest), before, offset);
    },
    seal: () => sealJob(requests, id),
  };
}

async function existingJob(requests: Requests, id: string): Promise<{ id: string; requestId: string; name: string }> {
  const { requestId, name } = await requests.json<JobOut>(`/v1/jobs/${encodeURIComponent(id)}`);
  return { id, requestId: requestId ?? "", name };
}

async function isSealedJob(requests: Requests, id: string): Promise<boolean> {
  try {
    const { sealed } = await requests.json<{ sealed: boolean }>(`/v1/jobs/${encodeURIComponent(id)}`);
    return sealed;
  } catch (error) {
    // A key that has only the scope submit cannot read the job. If the job is sealed, the server refuses the URLs.
    if (isApiError(error, "FORBIDDEN")) return false;
    throw error;
  }
}

/** Converts a result of the server. `before`: the result of the `offset` URLs before these. */
function enqueuedUrls(sent: Taken, before?: Taken, offset = 0): EnqueuedUrls {
  const { accepted, duplicates, refused, taken, retryAfterMs } = sent;
  return {
    queued: accepted + (before?.accepted ?? 0),
    duplicates: duplicates + (before?.duplicates ?? 0),
    refused: [...(before?.refused ?? []), ...refused.map(({ index, reason }) => ({ index: index + offset, reason }))],
    ...(retryAfterMs === undefined ? {} : { full: { taken: taken + offset, retryAfterMs } }),
  };
}
