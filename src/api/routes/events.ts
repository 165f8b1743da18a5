/** What happens, as it happens: server-sent events, from whichever instance. */
import { z } from "zod";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { allEvents } from "../events/all-jobs.ts";
import { hasHeardEnd, jobEvents } from "../events/job-events.ts";
import type { Pulse } from "../events/pulse.ts";
import { EVENT_STREAM } from "../events/sse.ts";
import { type Asked, defineRoute, type Route, type StreamAnswer } from "../route.ts";

const TAG = "Events";
const id = z.strictObject({ id: z.string().min(1).max(100) });
const STREAM = { says: "text/event-stream, until it is closed.", types: [EVENT_STREAM] };

export function eventRoutes(deps: ApiDeps, pulse: Pulse): Route[] {
  const all = { ...deps, pulse };
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/events",
      scope: "read",
      tag: TAG,
      summary: "Follow a job until it ends",
      says: "Events `job`, with the job as GET /v1/jobs/{id} has it, and as the last one `end`. With Last-Event-ID only what is new: 204 where that was the end.",
      params: id,
      answers: { 200: STREAM, 204: { says: "It has ended, and you know." } },
      async handle({ params, caller, headers, signal }) {
        const job = await findOwnJob(deps, caller, params.id);
        const lastId = lastIdIn(headers);
        if (hasHeardEnd(job, lastId)) return { status: 204, body: undefined };
        return streamed(jobEvents(all, params.id, { lastId, signal }));
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/events",
      scope: "read",
      tag: TAG,
      summary: "Follow all jobs",
      says: "Events `jobs`, first with the newest 200 (of a tenant 50) and up to 200 that have not ended, then with those that have changed, in `gone` the ids of those that are deleted or too old, and in `more` whether there are others, `open` or `ended`; with the scope admin also `fleet`: queues, how many workers there are, and their pace over the last seconds.",
      answers: { 200: STREAM },
      handle: async ({ caller, headers, signal }) =>
        streamed(allEvents(all, { caller, lastId: lastIdIn(headers), signal })),
    }),
  ];
}

function lastIdIn({ "last-event-id": id }: Asked["headers"]): string | undefined {
  return typeof id === "string" ? id : undefined;
}

function streamed(stream: AsyncGenerator<string>): StreamAnswer {
  // Proxies that gather answers before they pass them on would hold events back.
  return { status: 200, type: `${EVENT_STREAM}; charset=utf-8`, stream, headers: { "x-accel-buffering": "no" } };
}
