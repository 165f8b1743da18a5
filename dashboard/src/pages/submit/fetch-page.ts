/**
 * One page, to try rules on: fetched through a worker and at the pace of its site, by a small job of its own. Whoever has
 * its id takes it back, however it went: nobody is to find it among the jobs, or its failure among the dead letters.
 */
import { ApiError, type JobInput, type JobOut } from "../../../../src/client/client.ts";
import { pause } from "../../../../src/client/requests.ts";
import { api } from "../../session.ts";
import { hasEnded } from "../jobs/job-numbers.ts";

/** A page that is kept to be read again and again, and the job that it was fetched by. */
export type Fetched = { pageId: number; jobId: string; status: number };

type Fetching = {
  signal: AbortSignal;
  /** Hears the job's id, which from then on is for the caller to forget. */
  onJob: (id: string) => void;
};

const PATIENCE_SECONDS = 25;
const FIRST_LOOK_MS = 100;
const LOOK_MOST_MS = 1_000;
const MOST_URGENT = 0;
/** Redirects lead to pages of their own, of which the last is meant. */
const PAGES_MOST = 100;

/** Throws what is to be shown: no page without a word on why. */
export async function fetchPage(url: string, job: JobInput, { signal, onJob }: Fetching): Promise<Fetched> {
  // Not to be aborted: a job whose id was not heard could not be taken back.
  const sent = await api().submit(jobFor(url.trim(), job));
  if (signal.aborted) forgetPage(sent.id);
  signal.throwIfAborted();
  onJob(sent.id);
  const [refused] = sent.refused;
  if (refused !== undefined) throw new ApiError(400, { code: "BAD_URL", detail: `url: ${refused.reason}` });
  if ((await endOf(sent.id, signal)) === undefined) throw await explained(sent.id, signal);
  const { pages } = await api().job(sent.id).listPages({ limit: PAGES_MOST, signal });
  const page = pages.at(-1);
  if (page?.kept.includes("body")) return { pageId: page.id, jobId: sent.id, status: page.status };
  if (page !== undefined)
    throw new Error("The page came, and its body is not kept: the server's TRAWL_BODIES is none.");
  throw new Error(await whyNone(sent.id, signal));
}

/** If it cannot be deleted now, it is a small job that anybody may delete. */
export function forgetPage(jobId: string): void {
  void api()
    .job(jobId)
    .delete({ cancel: true })
    .catch(() => {});
}

/** Tried once: somebody waits, and may try again. */
function jobFor(url: string, { render, browser, headers, politeness, queue }: JobInput): JobInput {
  return {
    ...{ name: `Preview of ${url}`.slice(0, 200), urls: [url], priority: MOST_URGENT },
    ...{ retries: { max: 0 }, keep: { bodies: true } },
    ...said({ render, browser, headers, politeness, queue }),
  };
}

/** Undefined where it is not there in time. */
async function endOf(id: string, signal: AbortSignal): Promise<JobOut | undefined> {
  const until = performance.now() + PATIENCE_SECONDS * 1000;
  for (let waitMs = FIRST_LOOK_MS; performance.now() < until; waitMs = Math.min(waitMs * 1.5, LOOK_MOST_MS)) {
    const job = await api().job(id).state({ signal });
    if (hasEnded(job)) return job;
    await pause(waitMs, signal);
  }
  return undefined;
}

async function whyNone(job: string, signal: AbortSignal): Promise<string> {
  for await (const { reason, history } of api().dead.list({ job }, { signal })) {
    const detail = history.at(-1)?.detail ?? undefined;
    return `The page was given up on: ${reason}${detail === undefined ? "." : `: ${detail.slice(0, 300)}`}`;
  }
  return "robots.txt of the site does not allow this page.";
}

/** Why it is not there, in the words of `trawl explain`. */
async function explained(job: string, signal: AbortSignal): Promise<ApiError> {
  const { reasons } = await api().explain({ job }, { signal });
  return new ApiError(504, {
    code: "SCRAPE_TIMEOUT",
    detail: `The page was not there within ${PATIENCE_SECONDS} s: ${reasons.join("; ")}.`,
    fix: "Start a worker that serves its queue, or wait until the site may be asked again; then fetch again.",
  });
}

function said<T extends object>(words: T): Partial<T> {
  return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined)) as Partial<T>;
}
