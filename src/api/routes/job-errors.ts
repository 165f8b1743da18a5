/** The errors of a job, grouped by reason. */
import { z } from "zod";
import { deadGroupOut } from "../../control/views/dead-letter.ts";
import type { AttemptGroup } from "../../store/store.ts";
import { withCauses } from "../../trace/dead-causes.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { type JobErrorsOut, jobErrorsSchemaOut } from "../wire/jobs.ts";

/** The maximum number of groups of each kind in the response. */
const MAX_GROUPS = 100;
/** The maximum number of invalid records that are grouped. */
const MAX_INVALID = 1_000;

export function jobErrorRoutes(deps: ApiDeps): ApiRoute[] {
  const { frontier, store } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/errors",
      scope: "read",
      tag: "Jobs",
      summary: "List the errors of a job by reason",
      description:
        "Largest groups first. `attempts`: attempts without a page, also if a later attempt succeeded. `dead`: failed URLs. `invalid`: records that lack a required field or do not match their schema; at most 1,000 are grouped.",
      params: z.strictObject({ id: z.string().min(1).max(100) }),
      responses: { 200: { description: "At most 100 groups of each kind.", json: jobErrorsSchemaOut } },
      async handle({ params, caller }) {
        const { id, tally } = await findOwnJob(deps, caller, params.id);
        const [attempts, dead, invalid] = await Promise.all([
          store.groupAttempts(id, MAX_GROUPS),
          frontier.groupDead({ jobId: id }, MAX_GROUPS),
          store.readInvalid(id, 0, MAX_INVALID),
        ]);
        const body: JobErrorsOut = {
          attempts: attempts.map(attemptGroupOut),
          dead: (await withCauses(frontier, { jobId: id }, dead.groups)).map(deadGroupOut),
          invalid: {
            total: Math.max(tally.invalid, invalid.length),
            searched: invalid.length,
            groups: byReason(invalid),
          },
        };
        return { status: 200, body };
      },
    }),
  ];
}

function attemptGroupOut({ outcome, because, status, count, sample }: AttemptGroup): JobErrorsOut["attempts"][number] {
  return { outcome, because, status: status ?? null, count, sample };
}

function byReason(found: readonly { reason: string; url: string }[]): JobErrorsOut["invalid"]["groups"] {
  const groups = new Map<string, JobErrorsOut["invalid"]["groups"][number]>();
  for (const { reason, url } of found) {
    const group = groups.get(reason) ?? { reason, count: 0, sample: url };
    group.count += 1;
    groups.set(reason, group);
  }
  return [...groups.values()].sort((one, other) => other.count - one.count).slice(0, MAX_GROUPS);
}
