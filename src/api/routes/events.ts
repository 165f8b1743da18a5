/** Server-sent events of one job, and of all jobs. Every server instance sends the same events. */
import { z } from "zod";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { allEvents } from "../events/all-job-events.ts";
import { hasSeenEnd, jobEvents } from "../events/job-events.ts";
import type { SharedPoller } from "../events/shared-poller.ts";
import { EVENT_STREAM } from "../events/sse.ts";
import { type ApiRequest, type ApiRoute, defineRoute, type StreamResponse } from "../route.ts";

const TAG = "Events";
const id = z.strictObject({ id: z.string().min(1).max(100) });
const STREAM = { description: "A stream of server-sent events.", types: [EVENT_STREAM] };

export function eventRoutes(deps: ApiDeps, poller: SharedPoller): ApiRoute[] {
  const all = { ...deps, poller };
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/events",
      scope: "read",
      tag: TAG,
      summary: "Follow a job until it ends",
      description:
        "Sends `job` events with the job as in GET /v1/jobs/{id}, and `end` as the last event. If the job is deleted, the stream ends without `end`. With Last-Event-ID, the stream contains only newer states; the response is 204 if the client has already received `end`.",
      params: id,
      responses: { 200: STREAM, 204: { description: "The job has ended, and the client has received the end." } },
      async handle({ params, caller, headers, signal }) {
        const job = await findOwnJob(deps, caller, params.id);
        const lastId = lastIdIn(headers);
        if (hasSeenEnd(job, lastId)) return { status: 204, body: undefined };
        return streamed(jobEvents(all, params.id, { lastId, signal }));
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/events",
      scope: "read",
      tag: TAG,
      summary: "Follow all jobs",
      description:
        "The first `jobs` event contains the newest 200 jobs (50 for a tenant) and up to 200 open jobs. Later events contain the jobs that have changed. `gone` lists the ids of jobs that were deleted, and of ended jobs that are no longer among the newest. `more` states whether there are `open` or `ended` jobs that the stream does not include. With the scope admin the stream also has `fleet` events: queues, number of workers and current speed.",
      responses: { 200: STREAM },
      handle: async ({ caller, headers, signal }) =>
        streamed(allEvents(all, { caller, lastId: lastIdIn(headers), signal })),
    }),
  ];
}

function lastIdIn({ "last-event-id": id }: ApiRequest["headers"]): string | undefined {
  return typeof id === "string" ? id : undefined;
}

function streamed(stream: AsyncGenerator<string>): StreamResponse {
  // The header disables the buffering of the stream in proxies.
  return { status: 200, type: `${EVENT_STREAM}; charset=utf-8`, stream, headers: { "x-accel-buffering": "no" } };
}
