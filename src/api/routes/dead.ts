/** Dead letters: list, group, replay and discard. */
import { z } from "zod";
import type { Caller } from "../../control/caller.ts";
import { replayDead } from "../../control/replay-dead.ts";
import { deadGroupOut, deadOut } from "../../control/views/dead-letter.ts";
import { TrawlError } from "../../errors.ts";
import { MAX_BATCH } from "../../frontier/frontier.ts";
import type { DeadFilter } from "../../frontier/frontier-admin.ts";
import { withCauses } from "../../trace/dead-causes.ts";
import { type ApiDeps, findLiveJob, findOwnJob } from "../api-deps.ts";
import { idFromCursor, LISTING, toCursor } from "../cursor.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { deadGroupSchemaOut, deadReason, deadSchemaOut } from "../wire/dead.ts";

const TAG = "Dead letters";
const OWN = "A key with a tenant must name a job.";

const taskId = z.string().regex(/^[1-9][0-9]{0,15}$/, "takes the id of a task, as in GET /v1/dead");
const which = {
  job: z.string().min(1).max(100).optional().describe("A job id."),
  reason: deadReason.optional(),
  site: z.string().min(1).max(300).optional().describe("A host, with its port unless it is 80 or 443."),
};
const listing = z.strictObject({
  ...which,
  status: z.coerce.number().int().min(100).max(999).optional(),
  group: z
    .enum(["true", "false"])
    .default("false")
    .describe("Return counts by reason, site and status instead of single dead letters."),
  ...LISTING,
  cursor: LISTING.cursor.describe("Ignored if group is true."),
});
const chosen = {
  ...which,
  tasks: z.array(taskId).min(1).max(MAX_BATCH).optional().describe("Task ids."),
  status: z.int().min(100).max(999).optional(),
  limit: z.int().min(1).max(1_000_000).default(10_000).describe("The maximum number of dead letters to process."),
};
const toReplay = z.strictObject({
  ...chosen,
  perSecond: z.number().min(0.001).max(100_000).default(10).describe("How many tasks become due per second."),
});
const toDiscard = z.strictObject(chosen);

type Selection = {
  job?: string | undefined;
  reason?: DeadFilter["reason"];
  site?: string | undefined;
  status?: number | undefined;
  tasks?: readonly string[] | undefined;
};

export function deadRoutes(deps: ApiDeps): ApiRoute[] {
  const { frontier } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/dead",
      scope: "read",
      tag: TAG,
      summary: "List or group dead letters",
      description: OWN,
      query: listing,
      responses: {
        200: {
          description: "Dead letters, or groups with group=true.",
          json: z.union([
            z.strictObject({ dead: z.array(deadSchemaOut), next: z.string().nullable() }),
            z.strictObject({
              groups: z.array(deadGroupSchemaOut),
              letters: z.int().min(0).describe("The total number of dead letters, including groups beyond the limit."),
            }),
          ]),
        },
      },
      async handle({ query, caller }) {
        const filter = await ownFilter(deps, caller, query);
        const { limit, cursor, group } = query;
        if (group === "true") {
          const { groups, letters } = await frontier.groupDead(filter, limit);
          const caused = await withCauses(frontier, filter, groups);
          return { status: 200, body: { groups: caused.map(deadGroupOut), letters } };
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
      description: `A finished or failed job runs again, without its time limit. Dead letters of cancelled jobs are not replayed. At least one of job, reason, site, status, tasks is required. ${OWN}`,
      body: toReplay,
      example: { reason: "http_status", status: 503, perSecond: 5 },
      responses: { 200: { description: "The number of letters.", json: z.strictObject({ replayed: z.int().min(0) }) } },
      async handle({ body, caller }) {
        if (body.job !== undefined) await findLiveJob(deps, caller, body.job);
        const filter = requireFilter(await ownFilter(deps, caller, body));
        return { status: 200, body: { replayed: await replayDead(deps, filter, body) } };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/dead/discard",
      scope: "submit",
      tag: TAG,
      summary: "Discard dead letters",
      description: `The counts of their jobs do not change. At least one of job, reason, site, status, tasks is required. ${OWN}`,
      body: toDiscard,
      example: { reason: "http_status", status: 404 },
      responses: {
        200: { description: "The number of letters.", json: z.strictObject({ discarded: z.int().min(0) }) },
      },
      async handle({ body, caller }) {
        const filter = requireFilter(await ownFilter(deps, caller, body));
        return { status: 200, body: { discarded: await frontier.discardDead(filter, body.limit) } };
      },
    }),
  ];
}

/** The tenant is stored with the job, not with its dead letters. So a caller with a tenant must name a job. */
async function ownFilter(deps: ApiDeps, caller: Caller, which: Selection): Promise<DeadFilter> {
  const { job, reason, site, status, tasks } = which;
  if (job !== undefined) await findOwnJob(deps, caller, job);
  else if (caller.tenant !== undefined) {
    throw new TrawlError("BAD_REQUEST", {
      op: "api.dead",
      message: "job: is missing; a key with a tenant must name a job",
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

/** An empty body must not select all dead letters of all jobs. */
function requireFilter(filter: DeadFilter): DeadFilter {
  if (Object.keys(filter).length > 0) return filter;
  throw new TrawlError("BAD_REQUEST", {
    op: "api.dead",
    message:
      "body: contains none of job, reason, site, status, tasks; set at least one, so that you do not select all dead letters",
  });
}
