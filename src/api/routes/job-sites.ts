/** The sites of a job. */
import { z } from "zod";
import { jobSiteOut } from "../../control/views/job.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { fromCursor, LISTING, toCursor } from "../cursor.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { jobSiteSchemaOut } from "../wire/jobs.ts";

export function jobSiteRoutes(deps: ApiDeps): ApiRoute[] {
  const { frontier, clock } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/sites",
      scope: "read",
      tag: "Jobs",
      summary: "List the sites of a job, by name",
      description:
        "The numbers of all sites add up to the job's counts and tally. The list is empty for an archived job.",
      params: z.strictObject({ id: z.string().min(1).max(100) }),
      query: z.strictObject(LISTING),
      responses: {
        200: {
          description: "One page of sites; `next` is the cursor of the next page.",
          json: z.strictObject({ sites: z.array(jobSiteSchemaOut), next: z.string().nullable() }),
        },
      },
      async handle({ params, query: { limit, cursor }, caller }) {
        const job = await findOwnJob(deps, caller, params.id);
        const after = cursor === undefined ? "" : String(fromCursor(cursor, ["site"]).site);
        const found = await frontier.listJobSites(job.id, limit, after);
        const last = found.length < limit ? undefined : found.at(-1);
        return {
          status: 200,
          body: {
            sites: found.map((view) => jobSiteOut(view, job, clock.now())),
            next: last === undefined ? null : toCursor({ site: last.site }),
          },
        };
      },
    }),
  ];
}
