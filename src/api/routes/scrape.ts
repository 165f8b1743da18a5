/** Fetches one URL and returns its page and records. The request submits a normal job and waits for its end. */
import { z } from "zod";
import { deadOut } from "../../control/views/dead-letter.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { hasEnded } from "../../domain/job.ts";
import { TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { recordLine } from "../../store/export/record-line.ts";
import { jobSchema } from "../../submit/job-schema.ts";
import type { ApiDeps } from "../api-deps.ts";
import type { SharedPoller } from "../events/shared-poller.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { submitJob } from "../submit/submit-job.ts";
import { pageOut, type ScrapeOut, scrapeSchemaOut } from "../wire/results.ts";

/** Less than a minute, because the server closes connections after a minute without traffic. */
const MAX_WAIT_SECONDS = 55;
const MOST_URGENT = 0;
/** Each redirect is stored as a page. The last page is the result. */
const MAX_PAGES = 100;
const MAX_RECORDS = 1_000;

const wanted = jobSchema.omit({ urls: true, sitemaps: true, spider: true, follow: true, webhook: true }).extend({
  url: z.string().max(10_000),
  timeoutSeconds: z
    .number()
    .min(0.1)
    .max(MAX_WAIT_SECONDS)
    .default(30)
    .describe("After this time the response is 504 SCRAPE_TIMEOUT. The job continues."),
});

/** `poller` polls often, because a person may be waiting for the response. */
export function scrapeRoutes(deps: ApiDeps, poller: SharedPoller): ApiRoute[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/scrape",
      scope: "submit",
      tag: "Jobs",
      summary: "Fetch one URL and wait for its page and records",
      description:
        "The default priority is 0, so the task runs before other waiting tasks. The limits of the site apply. Takes the fields of a job except urls, sitemaps, follow, spider and webhook.",
      body: wanted,
      isSubmission: true,
      example: { url: "https://a.example/", extract: { title: "h1" } },
      responses: { 200: { description: "The result.", json: scrapeSchemaOut } },
      async handle({ body, caller, requestId, headers, signal }) {
        const { url, timeoutSeconds, ...job } = body;
        if (canonicalUrl(url.trim()) === undefined) throw notAUrl(url);
        const newJob = { priority: MOST_URGENT, ...job, urls: [url] };
        const sent = await submitJob(deps, newJob, { caller, requestId, key: headers["idempotency-key"] });
        const ended = await untilEnded({ ...deps, poller }, sent.id, timeoutSeconds, signal);
        return { status: 200, body: { requestId: sent.requestId, ...(await outcomeOf(deps, ended)) } };
      },
    }),
  ];
}

/** Resolves with the job after it has ended. Throws SCRAPE_TIMEOUT or STOPPING. */
async function untilEnded(
  { catalogue, clock, poller }: Pick<ApiDeps, "catalogue" | "clock"> & { poller: SharedPoller },
  id: string,
  seconds: number,
  signal: AbortSignal,
): Promise<JobView> {
  const until = clock.now() + seconds * 1000;
  const subscription = poller.subscribe(`job ${id}`, () => catalogue.find(id));
  try {
    for (let version = 0; clock.now() < until; ) {
      const polled = await subscription.next(version, until - clock.now(), signal);
      signal.throwIfAborted();
      if (polled?.value !== undefined && hasEnded(polled.value.state)) return polled.value;
      version = polled?.version ?? version;
    }
  } finally {
    subscription.stop();
  }
  throw new TrawlError("SCRAPE_TIMEOUT", {
    op: "api.scrape",
    message: `job ${id} has not ended within ${seconds} s and continues: see /v1/jobs/${id}, or /v1/explain?job=${id} for the reason`,
    detail: { id },
  });
}

async function outcomeOf({ store, frontier }: ApiDeps, { id, counts }: JobView): Promise<Omit<ScrapeOut, "requestId">> {
  const [pages, records, [letter]] = await Promise.all([
    store.readPages(id, 0, MAX_PAGES),
    store.readRecords(id, 0, MAX_RECORDS),
    frontier.listDead({ jobId: id }, 1),
  ]);
  const page = pages.at(-1);
  // The dead letters of an archived job are removed; their count is kept.
  const isDead = letter !== undefined || counts.dead > 0;
  return {
    id,
    outcome: isDead ? "dead" : page !== undefined || records.length > 0 ? "page" : "refused",
    page: page === undefined ? null : pageOut(page),
    records: records.map(recordLine) as ScrapeOut["records"],
    dead: letter === undefined ? null : deadOut(letter),
  };
}

function notAUrl(url: string): TrawlError {
  return new TrawlError("BAD_URL", {
    op: "api.scrape",
    message: `body.url: ${JSON.stringify(url)} is not an absolute http(s) URL without credentials`,
  });
}
