/** Jobs: submit, list, look at, steer. */
import { z } from "zod";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { markDeleted } from "../../retain/delete-job.ts";
import { jobAsWritten } from "../../submit/job-as-written.ts";
import { jobSchema } from "../../submit/job-schema.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { type ApiDeps, findLiveJob, findOwnJob } from "../api-deps.ts";
import { changeJob, jobChangeSchema } from "../change-job.ts";
import { LISTING } from "../cursor.ts";
import { jobOut } from "../job-out.ts";
import { listJobs } from "../list-jobs.ts";
import { type Answer, defineRoute, type Route } from "../route.ts";
import { addUrls } from "../submit/add-urls.ts";
import { nameInFolder } from "../submit/spider-in-folder.ts";
import { submitOnce } from "../submit/submit-once.ts";
import { jobSchemaOut, newJobSchemaOut, submissionSchema, writtenJobSchemaOut } from "../wire-types.ts";

const TAG = "Jobs";
const id = z.strictObject({ id: z.string().min(1).max(100) });
const newJob = jobSchema.extend({
  open: z
    .boolean()
    .optional()
    .describe("More URLs are to come, by POST /v1/jobs/{id}/urls; the last of them with ?last=true."),
});
const listing = z.strictObject({
  state: jobSchemaOut.shape.state.optional(),
  q: z.string().max(500).optional().describe("Words that are in the name, the id or a URL of the job, in any case."),
  ...LISTING,
});
const jobPage = z.strictObject({ jobs: z.array(jobSchemaOut), next: z.string().nullable() });
const ONE = { 200: { says: "The job.", json: jobSchemaOut } };
const TAKEN = { says: "Queued; nothing is fetched yet.", json: submissionSchema };

export function jobRoutes(deps: ApiDeps): Route[] {
  const { frontier, clock } = deps;
  const shown = (job: JobView): Answer => ({ status: 200, body: jobOut(job, clock.now()) });

  /** A steering call on a job of the caller's. */
  const steering = (verb: "pause" | "resume" | "cancel", summary: string): Route =>
    defineRoute({
      method: "POST",
      path: `/v1/jobs/:id/${verb}`,
      scope: "submit",
      tag: TAG,
      summary,
      params: id,
      answers: ONE,
      async handle({ params, caller }) {
        await findLiveJob(deps, caller, params.id);
        return shown(await frontier[verb](params.id));
      },
    });

  return [
    defineRoute({
      method: "POST",
      path: "/v1/jobs",
      scope: "submit",
      tag: TAG,
      summary: "Submit a job",
      says: "Answers as soon as the URLs are queued. With an Idempotency-Key the same request may be sent again: it makes one job.",
      body: newJob,
      isSubmission: true,
      example: { name: "shop", urls: ["https://a.example/"], extract: { title: "h1" } },
      answers: { 202: { ...TAKEN, json: newJobSchemaOut } },
      handle: async ({ body, caller, requestId, headers }) => ({
        status: 202,
        body: await submitOnce(deps, body, { caller, requestId, key: headers["idempotency-key"] }),
      }),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/jobs/:id/urls",
      scope: "submit",
      tag: TAG,
      summary: "Add URLs to a job",
      says: 'As JSON, or as application/x-ndjson of any length: one URL a line, as a JSON string, as {"url": …}, or bare.',
      params: id,
      query: z.strictObject({
        last: z.enum(["true", "false"]).default("false").describe("No more are to come: the job may end."),
      }),
      body: z.strictObject({ urls: z.array(z.string()).max(1_000_000) }),
      streams: ["application/x-ndjson"],
      isSubmission: true,
      example: { urls: ["https://a.example/1", "https://a.example/2"] },
      answers: { 202: TAKEN },
      async handle({ params, query, body, stream, caller, requestId, signal }) {
        const job = await findLiveJob(deps, caller, params.id);
        const source = stream ?? body.urls;
        const taken = await addUrls(deps, job.spec as JobSpec, source, { caller, signal });
        if (query.last === "true") await frontier.seal(params.id);
        return { status: 202, body: { ...taken, requestId } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs",
      scope: "read",
      tag: TAG,
      summary: "List jobs, newest first",
      says: "With `state` or `q` those alone. Running and paused ones are found at once; for others a request looks at some thousands of jobs at most: an answer may have few, or none, and a `next` all the same.",
      query: listing,
      answers: { 200: { says: "Some of them; `next` is the cursor for more.", json: jobPage } },
      async handle({ query, caller }) {
        const { jobs, next } = await listJobs(deps, caller, query);
        return { status: 200, body: { jobs: jobs.map((job) => jobOut(job, clock.now())), next } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id",
      scope: "read",
      tag: TAG,
      summary: "Look at a job",
      params: id,
      answers: ONE,
      handle: async ({ params, caller }) => shown(await findOwnJob(deps, caller, params.id)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/spec",
      scope: "read",
      tag: TAG,
      summary: "The job as it can be submitted again",
      says: "Secrets are not in it, nor URLs that came as a list: `missing` names what has to be given anew.",
      params: id,
      answers: { 200: { says: "What POST /v1/jobs takes.", json: writtenJobSchemaOut } },
      async handle({ params, caller }) {
        const { counts, ...job } = await findOwnJob(deps, caller, params.id);
        const spec = job.spec as JobSpec;
        const spider = spec.spider === undefined ? undefined : nameInFolder(spec.spider, deps.config.apiSpiders);
        const hasWebhook = (await deps.store.webhooks.find(spec.id)) !== undefined;
        // A list whose answer got lost comes twice. Links may be double as well: then fewer are known of, and never more.
        const submitted = counts.submitted - counts.duplicate;
        return { status: 200, body: jobAsWritten(spec, deps.config, { spider, hasWebhook, submitted }) };
      },
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/jobs/:id",
      scope: "submit",
      tag: TAG,
      summary: "Change a running job's pace, priority or limits",
      says: "At once, for all workers. What is missing stays as it is. A page limit below what is queued drops nothing, and takes in no more.",
      params: id,
      body: jobChangeSchema,
      example: { rate: "2/s", priority: 3, limits: { pages: 5000, seconds: null } },
      answers: ONE,
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
      summary: "Delete a job with all that came of it",
      says: "Its pages, records, dead letters and bodies, unless pages of other jobs have the same. It is not there from the answer on; the rest is removed after it. Of a job that has not ended only with ?cancel=true. Its id, and its Idempotency-Key, stay used.",
      params: id,
      query: z.strictObject({
        cancel: z.enum(["true", "false"]).default("false").describe("Cancel it first, if it has not ended."),
      }),
      answers: { 202: { says: "It is not there any more.", json: z.strictObject({ id: z.string() }) } },
      async handle({ params, query, caller }) {
        const job = await findOwnJob(deps, caller, params.id);
        const { archive } = deps.store;
        await markDeleted({ archive, clock }, job, { cancel: query.cancel === "true" });
        deps.onDeleted();
        return { status: 202, body: { id: job.id } };
      },
    }),
    steering("pause", "Pause a job"),
    steering("resume", "Go on with a paused job"),
    steering("cancel", "Cancel a job"),
  ];
}
