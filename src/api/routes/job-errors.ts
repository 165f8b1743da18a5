/** What went wrong in a job, by reason: where to begin when it brings less than it should. */
import { z } from "zod";
import type { TryGroup } from "../../store/store.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { defineRoute, type Route } from "../route.ts";
import { deadGroupOut } from "../wire-fleet.ts";
import { type JobErrorsOut, jobErrorsSchemaOut } from "../wire-types.ts";

/** Most groups of each kind; what goes wrong in more ways than this goes wrong in one. */
const GROUPS_MOST = 100;
/** Invalid records that are looked at. */
const INVALID_MOST = 1_000;

export function jobErrorRoutes(deps: ApiDeps): Route[] {
  const { frontier, store } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/errors",
      scope: "read",
      tag: "Jobs",
      summary: "What went wrong in a job, by reason, with a sample of each",
      says: "The most first. Tries are those that ended without a page, also where a later one brought it; dead letters are what was given up on; invalid records lack what their rules or schema ask for.",
      params: z.strictObject({ id: z.string().min(1).max(100) }),
      answers: { 200: { says: "At most 100 of each.", json: jobErrorsSchemaOut } },
      async handle({ params, caller }) {
        const { id, tally } = await findOwnJob(deps, caller, params.id);
        const [tries, dead, invalid] = await Promise.all([
          store.groupTries(id, GROUPS_MOST),
          frontier.groupDead({ jobId: id }, GROUPS_MOST),
          store.readInvalid(id, 0, INVALID_MOST),
        ]);
        const body: JobErrorsOut = {
          tries: tries.map(tryOut),
          dead: dead.groups.map(deadGroupOut),
          invalid: {
            total: Math.max(tally.invalid, invalid.length),
            looked: invalid.length,
            groups: byReason(invalid),
          },
        };
        return { status: 200, body };
      },
    }),
  ];
}

function tryOut({ fate, because, status, tries, sample }: TryGroup): JobErrorsOut["tries"][number] {
  return { fate, because, status: status ?? null, count: tries, sample };
}

function byReason(found: readonly { reason: string; url: string }[]): JobErrorsOut["invalid"]["groups"] {
  const groups = new Map<string, JobErrorsOut["invalid"]["groups"][number]>();
  for (const { reason, url } of found) {
    const group = groups.get(reason) ?? { reason, count: 0, sample: url };
    group.count += 1;
    groups.set(reason, group);
  }
  return [...groups.values()].sort((one, other) => other.count - one.count).slice(0, GROUPS_MOST);
}
