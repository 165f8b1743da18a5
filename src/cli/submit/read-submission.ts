/** Reads the arguments of `trawl submit`: a job, and its URLs as a stream, because a list may be larger than memory. */
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { DIGEST_URLS } from "../../submit/job-digest.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import { parseJob } from "../../submit/resolve-job.ts";
import { canonicalEntryUrl, startEntries } from "../../submit/url-entry.ts";
import {
  badUrl,
  type CrawlFlags,
  isList,
  isUrlLine,
  nothingGiven,
  unreadableList,
  withFlags,
  withRequestFlags,
  withUserFlag,
  writtenJob,
} from "../crawl/targets.ts";

export type Submission = {
  job: JobInput;
  /** The valid URLs among the first DIGEST_URLS. The name and the typed hosts of the job are derived from them. */
  first: readonly string[];
  /** Whether the list has no URLs after the first DIGEST_URLS. */
  isShort: boolean;
  /** All URLs, read on demand. Ends early when the signal aborts. */
  urls: AsyncIterable<string>;
};

/**
 * Reads the arguments. Throws BAD_USAGE, BAD_JOB, BAD_SELECTOR, BAD_SPIDER, or BAD_URL if no URL is valid and no list
 * was given.
 */
export async function readSubmission(
  targets: readonly string[],
  flags: CrawlFlags,
  signal: AbortSignal,
): Promise<Submission> {
  const base = await writtenJob(targets);
  const job = parseJob(withFlags(base ?? { follow: {} }, flags));
  const stream =
    base === undefined ? joined(startEntries(job), listed(targets, flags, signal)) : given(startEntries(job));
  const peeked: string[] = [];
  let isShort = false;
  while (peeked.length < DIGEST_URLS && !isShort) {
    const next = await stream.next();
    if (next.done === true) isShort = true;
    else peeked.push(next.value);
  }
  const first = peeked.filter((entry) => canonicalEntryUrl(entry) !== undefined);
  const [bad] = peeked;
  if (bad === undefined && !signal.aborted) throw nothingGiven();
  // Invalid lines of a list are reported one by one; a single typed URL is an error at once.
  if (bad !== undefined && first.length === 0 && isShort && !targets.some(isList)) throw badUrl(bad);
  return { job: withUserFlag(job, first, flags), first, isShort, urls: joined(peeked, stream) };
}

async function* given(urls: readonly string[]): AsyncGenerator<string> {
  yield* urls;
}

async function* joined(first: readonly string[], rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield* first;
  yield* rest;
}

async function* listed(targets: readonly string[], flags: CrawlFlags, signal: AbortSignal): AsyncGenerator<string> {
  for (const target of targets) {
    if (isList(target)) for await (const line of linesOf(target, signal)) yield withRequestFlags(line, flags);
    else yield withRequestFlags(target, flags);
  }
}

async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  try {
    const input = path === "-" ? process.stdin : (await open(path)).createReadStream();
    // The signal closes the input. Otherwise the loop would wait for the next line of a terminal.
    for await (const line of createInterface({ input, signal, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (isUrlLine(line.trim())) yield line.trim();
    }
    // An open pipe would keep the process alive.
    if (path === "-") process.stdin.destroy();
  } catch (cause) {
    if (!signal.aborted) throw unreadableList(path, cause);
  }
}
