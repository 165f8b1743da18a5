/** One URL, and its page and records in the answer: a job like any other, that somebody waits for. */
import { z } from "zod";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { hasEnded } from "../../domain/job.ts";
import { TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { recordLine } from "../../store/export/record-line.ts";
import { jobSchema } from "../../submit/job-schema.ts";
import type { ApiDeps } from "../api-deps.ts";
import { deadOut } from "../dead-out.ts";
import type { Pulse } from "../events/pulse.ts";
import { defineRoute, type Route } from "../route.ts";
import { submitOnce } from "../submit/submit-once.ts";
import { deadSchemaOut } from "../wire-fleet.ts";
import { pageOut, pageSchemaOut, recordSchemaOut } from "../wire-types.ts";

/** A connection on which nothing comes for a minute is taken for dead. */
const WAIT_MOST_SECONDS = 55;
const MOST_URGENT = 0;
/** Redirects lead to pages of their own, of which the last is meant. */
const PAGES_MOST = 100;
const RECORDS_MOST = 1_000;

const wanted = jobSchema.omit({ urls: true, spider: true, follow: true, webhook: true }).extend({
  url: z.string().max(10_000),
  timeoutSeconds: z
    .number()
    .min(0.1)
    .max(WAIT_MOST_SECONDS)
    .default(30)
    .describe("After this the answer is 504 SCRAPE_TIMEOUT, and the job goes on."),
});

const scraped = z.strictObject({
  id: z.string().describe("Of the job."),
  requestId: z.string(),
  outcome: z.enum(["page", "dead", "refused"]).describe("refused: by robots.txt, or because the job was ended."),
  page: pageSchemaOut.nullable(),
  records: z.array(recordSchemaOut),
  dead: deadSchemaOut.nullable().describe("Why it was given up on."),
});

export type ScrapeOut = z.output<typeof scraped>;

/** `pulse` looks often: people wait. */
export function scrapeRoutes(deps: ApiDeps, pulse: Pulse): Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/scrape",
      scope: "submit",
      tag: "Jobs",
      summary: "Fetch one URL, and wait for its page and records",
      says: "Goes before what waits, at priority 0 unless told otherwise, and keeps to what its site is allowed. Takes the fields of a job but urls, follow, spider and webhook.",
      body: wanted,
      isSubmission: true,
      example: { url: "https://a.example/", extract: { title: "h1" } },
      answers: { 200: { says: "What became of it.", json: scraped } },
      async handle({ body, caller, requestId, headers, signal }) {
        const { url, timeoutSeconds, ...job } = body;
        if (canonicalUrl(url.trim()) === undefined) throw notAUrl(url);
        const asked = { priority: MOST_URGENT, ...job, urls: [url] };
        const sent = await submitOnce(deps, asked, { caller, requestId, key: headers["idempotency-key"] });
        const ended = await ending({ ...deps, pulse }, sent.id, timeoutSeconds, signal);
        return { status: 200, body: { requestId: sent.requestId, ...(await outcomeOf(deps, ended)) } };
      },
    }),
  ];
}

/** The job once it has ended. Throws SCRAPE_TIMEOUT, or STOPPING. */
async function ending(
  { catalogue, clock, pulse }: Pick<ApiDeps, "catalogue" | "clock"> & { pulse: Pulse },
  id: string,
  seconds: number,
  signal: AbortSignal,
): Promise<JobView> {
  const until = clock.now() + seconds * 1000;
  const following = pulse.follow(`job ${id}`, () => catalogue.find(id));
  try {
    for (let nth = 0; clock.now() < until; ) {
      const seen = await following.next(nth, until - clock.now(), signal);
      signal.throwIfAborted();
      if (seen?.value !== undefined && hasEnded(seen.value.state)) return seen.value;
      nth = seen?.nth ?? nth;
    }
  } finally {
    following.stop();
  }
  throw new TrawlError("SCRAPE_TIMEOUT", {
    op: "api.scrape",
    message: `it has not ended within ${seconds} s; job ${id} goes on: ask /v1/jobs/${id}, or why at /v1/explain?job=${id}`,
    detail: { id },
  });
}

async function outcomeOf({ store, frontier }: ApiDeps, { id, counts }: JobView): Promise<Omit<ScrapeOut, "requestId">> {
  const [pages, records, [letter]] = await Promise.all([
    store.readPages(id, 0, PAGES_MOST),
    store.readRecords(id, 0, RECORDS_MOST),
    frontier.listDead({ jobId: id }, 1),
  ]);
  const page = pages.at(-1);
  // Of a job that has left the broker the letter is gone, and the count is kept.
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
