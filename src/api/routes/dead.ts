/** Dead letters: what was given up on, and what to do about it. */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import { BATCH_MOST } from "../../frontier/frontier.ts";
import type { DeadFilter } from "../../frontier/frontier-admin.ts";
import { type ApiDeps, findLiveJob, findOwnJob } from "../api-deps.ts";
import { idFromCursor, LISTING, toCursor } from "../cursor.ts";
import { deadOut } from "../dead-out.ts";
import { replayDead } from "../replay-dead.ts";
import { type Caller, defineRoute, type Route } from "../route.ts";
import { deadGroupOut, deadGroupSchemaOut, deadReason, deadSchemaOut } from "../wire-fleet.ts";

const TAG = "Dead letters";
const OWN = "Of the jobs of one tenant they are had a job at a time.";

const taskId = z.string().regex(/^[1-9][0-9]{0,15}$/, "is the id of a task, as GET /v1/dead has it");
const which = {
  job: z.string().min(1).max(100).optional().describe("Of this job."),
  reason: deadReason.optional(),
  site: z.string().min(1).max(300).optional().describe("Of this host, with its port unless that is 80 or 443."),
};
const listing = z.strictObject({
  ...which,
  status: z.coerce.number().int().min(100).max(999).optional(),
  group: z.enum(["true", "false"]).default("false").describe("Count them by reason, site and status."),
  ...LISTING,
  cursor: LISTING.cursor.describe("Not with `group`, which begins with the most."),
});
const chosen = {
  ...which,
  tasks: z.array(taskId).min(1).max(BATCH_MOST).optional().describe("These, by the id of their task."),
  status: z.int().min(100).max(999).optional(),
  limit: z.int().min(1).max(1_000_000).default(10_000).describe("How many at most."),
};
const toReplay = z.strictObject({
  ...chosen,
  perSecond: z.number().min(0.001).max(100_000).default(10).describe("How many become due a second."),
});
const toDiscard = z.strictObject(chosen);

type Which = {
  job?: string | undefined;
  reason?: DeadFilter["reason"];
  site?: string | undefined;
  status?: number | undefined;
  tasks?: readonly string[] | undefined;
};

export function deadRoutes(deps: ApiDeps): Route[] {
  const { frontier } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/dead",
      scope: "read",
      tag: TAG,
      summary: "List dead letters, or count them by what they died of",
      says: OWN,
      query: listing,
      answers: {
        200: {
          says: "Letters; or, with group=true, groups.",
          json: z.union([
            z.strictObject({ dead: z.array(deadSchemaOut), next: z.string().nullable() }),
            z.strictObject({
              groups: z.array(deadGroupSchemaOut),
              letters: z.int().min(0).describe("How many there are, also of groups past the limit."),
            }),
          ]),
        },
      },
      async handle({ query, caller }) {
        const filter = await ownFilter(deps, caller, query);
        const { limit, cursor, group } = query;
        if (group === "true") {
          const { groups, letters } = await frontier.groupDead(filter, limit);
          return { status: 200, body: { groups: groups.map(deadGroupOut), letters } };
        }
        const dead = await frontier.listDead(filter, limit, String(idFromCursor(cursor)));
        const last = dead.length < limit ? undefined : dead.at(-1);
        const next = last === undefined ? null : toCursor({ after: Number(last.taskId) });
        return { status: 200, body: { dead: dead.map(deadOut), next } };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/dead/replay",
      scope: "submit",
      tag: TAG,
      summary: "Queue dead letters again",
      says: `A finished job runs again with them. Name at least one of job, reason, site, status, tasks. ${OWN}`,
      body: toReplay,
      example: { reason: "http_status", status: 503, perSecond: 5 },
      answers: { 200: { says: "How many.", json: z.strictObject({ replayed: z.int().min(0) }) } },
      async handle({ body, caller }) {
        if (body.job !== undefined) await findLiveJob(deps, caller, body.job);
        const filter = narrowed(await ownFilter(deps, caller, body));
        return { status: 200, body: { replayed: await replayDead(deps, filter, body) } };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/dead/discard",
      scope: "submit",
      tag: TAG,
      summary: "Forget dead letters",
      says: `The ledger of their job still counts them. Name at least one of job, reason, site, status, tasks. ${OWN}`,
      body: toDiscard,
      example: { reason: "http_status", status: 404 },
      answers: { 200: { says: "How many.", json: z.strictObject({ discarded: z.int().min(0) }) } },
      async handle({ body, caller }) {
        const filter = narrowed(await ownFilter(deps, caller, body));
        return { status: 200, body: { discarded: await frontier.discardDead(filter, body.limit) } };
      },
    }),
  ];
}

/** Letters of jobs that are not the caller's are not there: whose they are is known by the job alone. */
async function ownFilter(deps: ApiDeps, caller: Caller, which: Which): Promise<DeadFilter> {
  const { job, reason, site, status, tasks } = which;
  if (job !== undefined) await findOwnJob(deps, caller, job);
  else if (caller.tenant !== undefined) {
    throw new TrawlError("BAD_REQUEST", {
      op: "api.dead",
      message: "job: is missing; a key of a tenant sees dead letters a job at a time",
    });
  }
  return {
    ...(job === undefined ? {} : { jobId: job }),
    ...(reason === undefined ? {} : { reason }),
    ...(site === undefined ? {} : { site: site.toLowerCase() }),
    ...(status === undefined ? {} : { status }),
    ...(tasks === undefined ? {} : { taskIds: tasks }),
  };
}

/** An empty body must not be everybody's everything. */
function narrowed(filter: DeadFilter): DeadFilter {
  if (Object.keys(filter).length > 0) return filter;
  throw new TrawlError("BAD_REQUEST", {
    op: "api.dead",
    message:
      "body: names none of job, reason, site, status, tasks; name at least one, so that not all of them are meant",
  });
}
