/** Schedules, which submit a job repeatedly. */
import { z } from "zod";
import { createOccurrenceQuota } from "../../control/quota/occurrence-quota.ts";
import { isoOf, runOut, scheduleOut } from "../../control/views/schedule.ts";
import { openSchedules } from "../../schedule/open-schedules.ts";
import { scheduleSchema } from "../../schedule/schedule-schema.ts";
import type { Schedule } from "../../store/schedule-store.ts";
import type { ApiDeps } from "../api-deps.ts";
import { fromCursor, LISTING, toCursor } from "../cursor.ts";
import { type ApiResponse, type ApiRoute, defineRoute } from "../route.ts";
import { withSpiderPath } from "../submit/submit-job.ts";
import { runSchemaOut, scheduleSchemaOut, upcomingSchemaOut } from "../wire/schedules.ts";

const TAG = "Schedules";
const id = z.strictObject({ id: z.string().min(1).max(100) });
const listing = z.strictObject(LISTING);
const schedulePage = z.strictObject({ schedules: z.array(scheduleSchemaOut), next: z.string().nullable() });
const runPage = z.strictObject({ runs: z.array(runSchemaOut), next: z.string().nullable() });
const howMany = z.coerce.number().int().min(1).max(100).default(10).describe("The number of runs.");
const nextRuns = z.strictObject({ next: z.array(z.iso.datetime()) });
const sketch = scheduleSchema.pick({ cron: true, timeZone: true, every: true }).extend({ n: howMany });
const DAY_MS = 86_400_000;
const window = z.strictObject({
  days: z.coerce.number().int().min(1).max(31).default(7).describe("The number of days, from now."),
  each: z.coerce.number().int().min(1).max(100).default(50).describe("The maximum number of runs per schedule."),
  limit: z.coerce.number().int().min(1).max(100).default(50).describe("Schedules per page."),
  cursor: LISTING.cursor,
});
const upcomingPage = z.strictObject({
  until: z.iso.datetime(),
  upcoming: z.array(upcomingSchemaOut),
  next: z.string().nullable(),
});
const change = scheduleSchema.partial();
const ONE = { description: "The schedule.", json: scheduleSchemaOut };
const EXAMPLE = { cron: "0 6 * * 1-5", timeZone: "Europe/Berlin", job: { urls: ["https://a.example/"] } };

export function scheduleRoutes(deps: ApiDeps): ApiRoute[] {
  const { store, quotas, clock, config } = deps;
  const findObstacle = createOccurrenceQuota({ keys: store.keys, quotas, clock, fixed: config.apiKeys });
  const { schedules } = openSchedules({ ...deps, findObstacle });
  const shown = (schedule: Schedule, status = 200): ApiResponse => ({ status, body: scheduleOut(schedule) });

  const controlRoute = (verb: "pause" | "resume", summary: string, description: string): ApiRoute =>
    defineRoute({
      method: "POST",
      path: `/v1/schedules/:id/${verb}`,
      scope: "submit",
      tag: TAG,
      summary,
      description,
      params: id,
      responses: { 200: ONE },
      handle: async ({ params, caller }) => shown(await schedules[verb](await schedules.get(params.id, caller.tenant))),
    });

  return [
    defineRoute({
      method: "POST",
      path: "/v1/schedules",
      scope: "submit",
      tag: TAG,
      summary: "Create a schedule",
      description:
        "Takes cron (with timeZone) or every, and the job that each run submits. Each run is started by one of the `trawl serve` processes that use this store.",
      body: scheduleSchema,
      example: EXAMPLE,
      responses: { 201: ONE },
      handle: async ({ body, caller }) =>
        shown(await schedules.add({ ...body, job: withSpiderPath(body.job, deps.config) }, caller.tenant), 201),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/schedules",
      scope: "read",
      tag: TAG,
      summary: "List schedules",
      query: listing,
      responses: {
        200: { description: "One page of schedules; `next` is the cursor of the next page.", json: schedulePage },
      },
      async handle({ query: { limit, cursor }, caller }) {
        const after = cursor === undefined ? "" : String(fromCursor(cursor, ["id"]).id);
        const found = await schedules.list(caller.tenant, limit, after);
        const last = found.length < limit ? undefined : found.at(-1);
        const next = last === undefined ? null : toCursor({ id: last.id });
        return { status: 200, body: { schedules: found.map(scheduleOut), next } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/schedules/upcoming",
      scope: "read",
      tag: TAG,
      summary: "List the upcoming runs of all schedules",
      description: "Paused schedules have no runs. For a frequent schedule, only the first runs are listed.",
      query: window,
      responses: {
        200: { description: "Sorted by schedule id; `next` is the cursor of the next page.", json: upcomingPage },
      },
      async handle({ query: { days, each, limit, cursor }, caller }) {
        const afterId = cursor === undefined ? "" : String(fromCursor(cursor, ["id"]).id);
        const until = clock.now() + days * DAY_MS;
        const found = await schedules.upcoming(caller.tenant, { until, each, limit, afterId });
        const last = found.length < limit ? undefined : found.at(-1);
        const upcoming = found.map(({ schedule: { id, name }, occurrences, more }) => ({
          id,
          name,
          runs: occurrences.map(isoOf),
          more,
        }));
        const next = last === undefined ? null : toCursor({ id: last.schedule.id });
        return { status: 200, body: { until: isoOf(Math.floor(until)), upcoming, next } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/schedules/preview",
      scope: "read",
      tag: TAG,
      summary: "Preview the runs of a new schedule",
      query: sketch,
      responses: { 200: { description: "The first runs of the schedule, if it were created now.", json: nextRuns } },
      handle: async ({ query: { n, ...when } }) => ({
        status: 200,
        body: { next: schedules.preview(when, n).map(isoOf) },
      }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/schedules/:id",
      scope: "read",
      tag: TAG,
      summary: "Get a schedule",
      params: id,
      responses: { 200: ONE },
      handle: async ({ params, caller }) => shown(await schedules.get(params.id, caller.tenant)),
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/schedules/:id",
      scope: "submit",
      tag: TAG,
      summary: "Change a schedule",
      description: "Missing keys are not changed. A new cron expression or interval takes effect immediately.",
      params: id,
      body: change,
      example: { overlap: "queue" },
      responses: { 200: ONE },
      async handle({ params, body, caller }) {
        const job = body.job === undefined ? undefined : withSpiderPath(body.job, deps.config);
        return shown(await schedules.change(await schedules.get(params.id, caller.tenant), { ...body, job }));
      },
    }),
    controlRoute(
      "pause",
      "Pause a schedule",
      "Until the schedule is resumed, only manual runs start. A run in progress continues.",
    ),
    controlRoute("resume", "Resume a paused schedule", "Runs that were missed during the pause are not started."),
    defineRoute({
      method: "POST",
      path: "/v1/schedules/:id/run",
      scope: "submit",
      tag: TAG,
      summary: "Run a schedule's job now",
      description:
        "Adds a run to those of the schedule. If another run is in progress, the overlap policy applies: the new run is skipped (skip), waits (queue), or replaces the other run (replace).",
      params: id,
      responses: { 202: { description: "The run; `jobId` is its job.", json: runSchemaOut } },
      handle: async ({ params, caller }) => ({
        status: 202,
        body: runOut(await schedules.runNow(await schedules.get(params.id, caller.tenant))),
      }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/schedules/:id/next",
      scope: "read",
      tag: TAG,
      summary: "List the next runs of a schedule",
      params: id,
      query: z.strictObject({ n: howMany }),
      responses: { 200: { description: "The next runs, as if the schedule were not paused.", json: nextRuns } },
      async handle({ params, query, caller }) {
        const schedule = await schedules.get(params.id, caller.tenant);
        return { status: 200, body: { next: schedules.next(schedule, query.n).map(isoOf) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/schedules/:id/runs",
      scope: "read",
      tag: TAG,
      summary: "List the past runs of a schedule, newest first",
      params: id,
      query: listing,
      responses: { 200: { description: "One page. The last 1,000 runs are kept.", json: runPage } },
      async handle({ params, query: { limit, cursor }, caller }) {
        const schedule = await schedules.get(params.id, caller.tenant);
        const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(fromCursor(cursor, ["at"]).at);
        const found = await schedules.listRuns(schedule, limit, Number.isFinite(before) ? before : 0);
        const last = found.length < limit ? undefined : found.at(-1);
        return {
          status: 200,
          body: { runs: found.map(runOut), next: last === undefined ? null : toCursor({ at: last.at }) },
        };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/schedules/:id",
      scope: "submit",
      tag: TAG,
      summary: "Delete a schedule",
      description: "Deletes the schedule, its run history and its own recrawl set. Its jobs are kept.",
      params: id,
      responses: {
        200: {
          description: "The schedule is deleted.",
          json: z.strictObject({ id: z.string(), removed: z.literal(true) }),
        },
      },
      async handle({ params, caller }) {
        await schedules.remove(await schedules.get(params.id, caller.tenant));
        return { status: 200, body: { id: params.id, removed: true } };
      },
    }),
  ];
}
