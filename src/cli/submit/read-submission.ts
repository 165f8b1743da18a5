/** What `trawl submit` was given -> a job as written, and its URLs as a stream: a list may be larger than memory. */
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import { parseJob } from "../../submit/resolve-job.ts";
import {
  badUrl,
  type CrawlFlags,
  isList,
  isUrlLine,
  nothingGiven,
  unreadableList,
  withFlags,
  writtenJob,
} from "../crawl/targets.ts";

export type Submission = {
  job: JobInput;
  /** The first URLs that can be fetched: they name the job, and tell whose hosts were meant. */
  first: readonly string[];
  /** Whether those are all there are, good or bad. */
  isShort: boolean;
  /** All of them, read as they are asked for; ends early when the signal aborts. */
  urls: AsyncIterable<string>;
};

/** URLs that are looked at before anything is submitted. */
const PEEKED = 1000;

/** Throws BAD_USAGE, BAD_URL (where not one URL is good, and no list was given), BAD_JOB, BAD_SELECTOR or BAD_SPIDER. */
export async function readSubmission(
  targets: readonly string[],
  flags: CrawlFlags,
  signal: AbortSignal,
): Promise<Submission> {
  const base = await writtenJob(targets);
  const job = parseJob(withFlags(base ?? { follow: {} }, flags));
  const stream = base === undefined ? listed(targets, signal) : given(job.urls ?? []);
  const peeked: string[] = [];
  let isShort = false;
  while (peeked.length < PEEKED && !isShort) {
    const next = await stream.next();
    if (next.done === true) isShort = true;
    else peeked.push(next.value);
  }
  const first = peeked.filter((url) => canonicalUrl(url) !== undefined);
  const [bad] = peeked;
  if (bad === undefined && !signal.aborted) throw nothingGiven();
  // Lines of a list are told one by one; what was typed, at once.
  if (bad !== undefined && first.length === 0 && isShort && !targets.some(isList)) throw badUrl(bad);
  return { job, first, isShort, urls: joined(peeked, stream) };
}

async function* given(urls: readonly string[]): AsyncGenerator<string> {
  yield* urls;
}

async function* joined(first: readonly string[], rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield* first;
  yield* rest;
}

async function* listed(targets: readonly string[], signal: AbortSignal): AsyncGenerator<string> {
  for (const target of targets) {
    if (isList(target)) yield* linesOf(target, signal);
    else yield target;
  }
}

async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  try {
    const input = path === "-" ? process.stdin : (await open(path)).createReadStream();
    // Closed by the signal, or somebody who types no more lines would hold up the end.
    for await (const line of createInterface({ input, signal, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (isUrlLine(line.trim())) yield line.trim();
    }
    // An open pipe would keep the process alive.
    if (path === "-") process.stdin.destroy();
  } catch (cause) {
    if (!signal.aborted) throw unreadableList(path, cause);
  }
}
