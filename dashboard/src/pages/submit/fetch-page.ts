/**
 * Fetches one page for the preview, with a small job that a worker runs at the rate of the site. The caller deletes the
 * job afterwards, whether it succeeded or not, so that it appears neither in the jobs nor in the dead letters.
 */
import { ApiError, type JobInput, type JobOut } from "../../../../src/client/client.ts";
import { pause } from "../../../../src/client/requests.ts";
import { api } from "../../session.ts";
import { hasEnded } from "../jobs/job-counts.ts";
import { withoutUndefined } from "./job-draft.ts";

/** A stored page that rules can be tried on, and the job that fetched it. */
export type FetchedPage = { pageId: number; jobId: string; status: number };

type FetchOptions = {
  signal: AbortSignal;
  /** Called with the id of the job. The caller must delete it with `deletePreviewJob`. */
  onJob: (id: string) => void;
};

const TIMEOUT_SECONDS = 25;
const FIRST_POLL_MS = 100;
const POLL_MAX_MS = 1_000;
const MOST_URGENT = 0;
/** Each redirect is a page too; the last page is the result. */
const PAGES_MAX = 100;

/** Throws an error to show to the user if there is no page. */
export async function fetchPage(url: string, job: JobInput, { signal, onJob }: FetchOptions): Promise<FetchedPage> {
  // Not abortable: without the id in the response, the job could not be deleted.
  const submitted = await api().submit(jobFor(url.trim(), job));
  if (signal.aborted) deletePreviewJob(submitted.id);
  signal.throwIfAborted();
  onJob(submitted.id);
  const [refused] = submitted.refused;
  if (refused !== undefined) throw new ApiError(400, { code: "BAD_URL", detail: `url: ${refused.reason}` });
  if ((await waitForEnd(submitted.id, signal)) === undefined) throw await timeoutError(submitted.id, signal);
  const { pages } = await api().job(submitted.id).listPages({ limit: PAGES_MAX, signal });
  const page = pages.at(-1);
  if (page?.kept.includes("body")) return { pageId: page.id, jobId: submitted.id, status: page.status };
  if (page !== undefined)
    throw new Error("The page was fetched, but its body was not stored. TRAWL_BODIES is set to none on the server.");
  throw new Error(await failureText(submitted.id, signal));
}

/** Ignores errors: a job that cannot be deleted now stays in the list, where the user can delete it. */
export function deletePreviewJob(jobId: string): void {
  void api()
    .job(jobId)
    .delete({ cancel: true })
    .catch(() => {});
}

/**
 * The job that fetches the page. It has the cookies, the login and the proxies of the edited job, but a session of its
 * own. It has no retries, because the user waits for the result and can fetch again.
 */
export function jobFor(url: string, { urls = [], ...job }: JobInput): JobInput {
  const { render, browser, headers, politeness, queue, cookies, login, proxy } = job;
  const request = urls.find((entry) => typeof entry === "object" && entry.url === url);
  return {
    ...{ name: `Preview of ${url}`.slice(0, 200), urls: [request ?? url], priority: MOST_URGENT },
    ...{ retries: { max: 0, unsafe: false }, keep: { bodies: true } },
    ...withoutUndefined({ render, browser, headers, politeness, queue, login, proxy }),
    ...(cookies === true || job.sessions !== undefined ? { cookies: true } : {}),
  };
}

/** Resolves with the job when it has ended, or with undefined after the timeout. */
async function waitForEnd(id: string, signal: AbortSignal): Promise<JobOut | undefined> {
  const until = performance.now() + TIMEOUT_SECONDS * 1000;
  for (let waitMs = FIRST_POLL_MS; performance.now() < until; waitMs = Math.min(waitMs * 1.5, POLL_MAX_MS)) {
    const job = await api().job(id).state({ signal });
    if (hasEnded(job)) return job;
    await pause(waitMs, signal);
  }
  return undefined;
}

async function failureText(job: string, signal: AbortSignal): Promise<string> {
  for await (const { reason, history } of api().dead.list({ job }, { signal })) {
    const detail = history.at(-1)?.detail ?? undefined;
    return `The page could not be fetched: ${reason}${detail === undefined ? "." : `: ${detail.slice(0, 300)}`}`;
  }
  return "The robots.txt of the site disallows this page.";
}

/** An error that contains the reasons why the job has not finished, from `trawl explain`. */
async function timeoutError(job: string, signal: AbortSignal): Promise<ApiError> {
  const { reasons } = await api().explain({ job }, { signal });
  return new ApiError(504, {
    code: "SCRAPE_TIMEOUT",
    detail: `The page was not fetched within ${TIMEOUT_SECONDS} s: ${reasons.join("; ")}.`,
    fix: "Start a worker that serves the queue, or wait until the site allows the next request. Then fetch again.",
  });
}
