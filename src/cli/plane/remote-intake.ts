/**
 * A submission over HTTP. The job is made under an Idempotency-Key, its URLs follow in requests of bounded size, and its
 * end by itself: each may be sent again after a lost answer, and a process that was killed goes on under the same key.
 * URLs whose answer got lost count as duplicates when they are sent again.
 */
import { randomUUID } from "node:crypto";
import type { JobOut, NewJobOut } from "../../api/wire-types.ts";
import { isApiError } from "../../client/api-error.ts";
import { sealJob, sendUrls, type Taken, takenOf } from "../../client/job.ts";
import type { Requests } from "../../client/requests.ts";
import { firstTasks } from "../../submit/submit-job.ts";
import type { Begun, Intake, Taking } from "../../submit/submit-stream.ts";
import type { NewIntake } from "./control-plane.ts";

/** Some hundred kilobytes: worth a request, and little to send again. */
const BATCH = 5_000;

export async function openRemoteIntake(
  requests: Requests,
  { spec: own, resume, job, urls, key, requestId }: NewIntake,
): Promise<Intake> {
  const spec = resume === undefined ? own : { ...own, ...(await knownJob(requests, resume)) };
  let id = spec.id;
  /** What became of the URLs that went with the job itself: the answer to the first call. */
  let first: Taken | undefined;

  async function make(): Promise<Omit<Begun, "isSealed">> {
    const body = { ...job, name: spec.name, urls: urls ?? [], open: true };
    const headers = {
      "idempotency-key": key ?? randomUUID(),
      ...(requestId === undefined ? {} : { "x-request-id": requestId }),
    };
    const sending = requests.json<NewJobOut>("/v1/jobs", { method: "POST", body, headers });
    const sent = await takenOf(sending);
    if (urls !== undefined) first = sent;
    return { id: sent.id, requestId: sent.requestId, webhookSecret: sent.webhookSecret ?? null };
  }

  return {
    job: spec,
    batchMost: BATCH,
    prepare: (batch) => firstTasks(spec, batch),
    async begin() {
      const made: Omit<Begun, "isSealed"> = resume === undefined ? await make() : spec;
      id = made.id;
      // Only under a key of the caller's own may it have been there before.
      const isSealed = key !== undefined && (await isSealedJob(requests, id));
      return { id, requestId: made.requestId, isSealed, webhookSecret: made.webhookSecret ?? null };
    },
    async enqueue(tasks) {
      const sent =
        first ??
        (await sendUrls(
          requests,
          id,
          tasks.map(({ url }) => url),
        ));
      first = undefined;
      return takingOf(sent);
    },
    seal: () => sealJob(requests, id),
  };
}

async function knownJob(requests: Requests, id: string): Promise<{ id: string; requestId: string; name: string }> {
  const { requestId, name } = await requests.json<JobOut>(`/v1/jobs/${encodeURIComponent(id)}`);
  return { id, requestId: requestId ?? "", name };
}

async function isSealedJob(requests: Requests, id: string): Promise<boolean> {
  try {
    const { sealed } = await requests.json<{ sealed: boolean }>(`/v1/jobs/${encodeURIComponent(id)}`);
    return sealed;
  } catch (error) {
    // A key that may submit and not read finds out when its URLs are refused.
    if (isApiError(error, "FORBIDDEN")) return false;
    throw error;
  }
}

function takingOf({ accepted, duplicates, refused, taken, retryAfterMs }: Taken): Taking {
  return {
    ...{ queued: accepted, duplicates, refused },
    ...(retryAfterMs === undefined ? {} : { full: { taken, retryAfterMs } }),
  };
}
