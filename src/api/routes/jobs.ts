/** Jobs: submit, list, read, change, delete. */
import { z } from "zod";
import { changeJob, jobChangeSchema } from "../../control/change-job.ts";
import { type ControlAction, controlJob } from "../../control/control-job.ts";
import { listJobs } from "../../control/list-jobs.ts";
import { jobDetailOut, jobOut } from "../../control/views/job.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { markDeleted } from "../../retain/delete-job.ts";
import { jobAsWritten } from "../../submit/job-as-written.ts";
import { jobSchema } from "../../submit/job-schema.ts";
import { entrySchema } from "../../submit/url-entry.ts";
import { type ApiDeps, findLiveJob, findOwnJob } from "../api-deps.ts";
import { jobPositionFrom, LISTING, toCursor } from "../cursor.ts";
import { type ApiResponse, type ApiRoute, defineRoute } from "../route.ts";
import { nameInFolder } from "../submit/spider-in-folder.ts";
import { addUrls, submitJob } from "../submit/submit-job.ts";
import { jobSchemaOut, newJobSchemaOut, submissionSchema, writtenJobSchemaOut } from "../wire/jobs.ts";

const TAG = "Jobs";
const id = z.strictObject({ id: z.string().min(1).max(100) });
const newJob = jobSchema.extend({
  open: z
    .boolean()
    .optional()
    .describe("Set this to add more URLs with POST /v1/jobs/{id}/urls. Set ?last=true in the last of these requests."),
});
const listing = z.strictObject({
  state: jobSchemaOut.shape.state.optional(),
  q: z
    .string()
    .max(500)
    .optional()
    .describe(
      "Only jobs that contain all these words in their name, id, request id or start URLs. Case is ignored. The URLs of a job with more than 500 URLs are not searched.",
    ),
  ...LISTING,
});
const jobPage = z.strictObject({ jobs: z.array(jobSchemaOut), next: z.string().nullable() });
const ONE = { 200: { description: "The job.", json: jobSchemaOut } };
const TAKEN = { description: "The URLs are queued.", json: submissionSchema };

export function jobRoutes(deps: ApiDeps): ApiRoute[] {
  const { frontier, clock } = deps;
  const shown = (job: JobView): ApiResponse => ({ status: 200, body: jobOut(job, clock.now()) });

  const controlRoute = (verb: ControlAction, summary: string, description?: string): ApiRoute =>
    defineRoute({
      method: "POST",
      path: `/v1/jobs/:id/${verb}`,
      scope: "submit",
      tag: TAG,
      summary,
      ...(description === undefined ? {} : { description }),
      params: id,
      responses: ONE,
      async handle({ params, caller }) {
        return shown(await controlJob(frontier, await findLiveJob(deps, caller, params.id), verb));
      },
    });

  return [
    defineRoute({
      method: "POST",
      path: "/v1/jobs",
      scope: "submit",
      tag: TAG,
      summary: "Submit a job",
      description:
        "Returns as soon as the URLs are queued. With an Idempotency-Key header, repeating the request creates no second job.",
      body: newJob,
      isSubmission: true,
      example: { name: "shop", urls: ["https://a.example/"], extract: { title: "h1" } },
      responses: { 202: { ...TAKEN, json: newJobSchemaOut } },
      handle: async ({ body, caller, requestId, headers }) => ({
        status: 202,
        body: await submitJob(deps, body, { caller, requestId, key: headers["idempotency-key"] }),
      }),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/jobs/:id/urls",
      scope: "submit",
      tag: TAG,
      summary: "Add URLs to a job",
      description:
        'Takes JSON, or application/x-ndjson of any length. A line of NDJSON is a plain URL, a JSON string, or a request: {"url": …, "method": …, "json": …}. The job must not be sealed. A job is not sealed if it was submitted with `open`, or if only a part of its URLs was accepted (429).',
      params: id,
      query: z.strictObject({
        last: z
          .enum(["true", "false"])
          .default("false")
          .describe("These are the last URLs. The job ends when all its URLs are done."),
      }),
      body: z.strictObject({ urls: z.array(entrySchema).max(1_000_000) }),
      streams: ["application/x-ndjson"],
      isSubmission: true,
      example: { urls: ["https://a.example/1", "https://a.example/2"] },
      responses: { 202: TAKEN },
      async handle({ params, query, body, stream, caller, requestId, signal }) {
        const job = await findLiveJob(deps, caller, params.id);
        const source = stream ?? body.urls;
        const taken = await addUrls(deps, job.spec, source, { caller, isLast: query.last === "true", signal });
        return { status: 202, body: { ...taken, requestId } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs",
      scope: "read",
      tag: TAG,
      summary: "List jobs, newest first",
      description:
        "`state` and `q` are filters. A request with a filter searches at most 2,000 jobs (500 for a key with a tenant), so a page may be short or empty and still have a `next`.",
      query: listing,
      responses: { 200: { description: "One page of jobs; `next` is the cursor of the next page.", json: jobPage } },
      async handle({ query, caller }) {
        const { cursor, ...filter } = query;
        const after = jobPositionFrom(cursor);
        // Callers of one tenant see the same jobs, so they share a cache entry.
        const json = await deps.jobList.page(JSON.stringify([caller.tenant, query]), async () => {
          const { jobs, next } = await listJobs(deps, caller, { ...filter, after });
          return {
            jobs: jobs.map((job) => jobOut(job, clock.now())),
            next: next === undefined ? null : toCursor(next),
          };
        });
        return { status: 200, json };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id",
      scope: "read",
      tag: TAG,
      summary: "Get a job",
      params: id,
      responses: ONE,
      async handle({ params, caller }) {
        const job = await findOwnJob(deps, caller, params.id);
        return { status: 200, body: jobDetailOut(job, await deps.readSpending(job.id), clock.now()) };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/spec",
      scope: "read",
      tag: TAG,
      summary: "Get a job in the form in which it can be submitted again",
      description:
        "Secrets and values that are not stored are left out. `missing` contains the keys that you have to add.",
      params: id,
      responses: { 200: { description: "A body for POST /v1/jobs.", json: writtenJobSchemaOut } },
      async handle({ params, caller }) {
        const { counts, ...job } = await findOwnJob(deps, caller, params.id);
        const spec = job.spec;
        const spider = spec.spider === undefined ? undefined : nameInFolder(spec.spider, deps.config.apiSpiders);
        const hasWebhook = (await deps.store.webhooks.find(spec.id)) !== undefined;
        // If a list was sent twice, `counts.submitted` counts it twice, so duplicates are subtracted. They include
        // duplicate links of pages, so the result may be too low, but never too high.
        const submitted = counts.submitted - counts.duplicate;
        return { status: 200, body: jobAsWritten(spec, deps.config, { spider, hasWebhook, submitted }) };
      },
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/jobs/:id",
      scope: "submit",
      tag: TAG,
      summary: "Change the rate, priority or limits of a job",
      description:
        "The change applies to all workers. At a site where a worker holds a term, it takes effect when the term is returned or ends, at most 2 seconds later. Fields that the request does not contain stay unchanged. If the page limit is below the number of queued URLs, the queued URLs are still fetched, but no more URLs are accepted. The limits in `politeness.sites` stay unchanged. The `limits` of an ended job cannot be changed.",
      params: id,
      body: jobChangeSchema,
      example: { rate: "2/s", priority: 3, limits: { pages: 5000, seconds: null } },
      responses: ONE,
      async handle({ params, body, caller }) {
        await changeJob(frontier, await findLiveJob(deps, caller, params.id), body);
        return shown(await findOwnJob(deps, caller, params.id));
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/jobs/:id",
      scope: "submit",
      tag: TAG,
      summary: "Delete a job and its results",
      description:
        "Deletes pages, records, dead letters, and bodies that no other job uses. After the response the job no longer exists for clients; its data is removed in the background. A job that has not ended needs ?cancel=true. The id and the Idempotency-Key of a deleted job cannot be used again.",
      params: id,
      query: z.strictObject({
        cancel: z.enum(["true", "false"]).default("false").describe("Cancel the job first if it has not ended."),
      }),
      responses: { 202: { description: "The job is deleted.", json: z.strictObject({ id: z.string() }) } },
      async handle({ params, query, caller }) {
        const job = await findOwnJob(deps, caller, params.id);
        const { archive } = deps.store;
        await markDeleted({ archive, clock }, job, { cancel: query.cancel === "true" });
        deps.onDeleted();
        return { status: 202, body: { id: job.id } };
      },
    }),
    controlRoute("pause", "Pause a job"),
    controlRoute(
      "resume",
      "Resume a paused job",
      "A job of `trawl crawl` can only be resumed while its process runs. Otherwise the response is 409 `CRAWL_STOPPED`.",
    ),
    controlRoute("cancel", "Cancel a job"),
  ];
}
