/**
 * Decides whether a repeated submission under an idempotency key is the same job. The digest covers the job as written,
 * after parsing and before any defaults: the same job has the same digest whether it comes from the command line, over
 * HTTP or from the client library, and whatever the settings of the process are. See docs/decisions/026.
 */
import { hash } from "node:crypto";
import { canonicalUrl } from "../domain/canonical-url.ts";
import type { JobDigest, JobSpec } from "../domain/job-spec.ts";
import type { JobInput } from "./job-schema.ts";
import { isSameWork } from "./resolve-job.ts";
import { readEntry } from "./url-entry.ts";

/**
 * The digest covers the first URLs of the list, up to this many. The digest must be known before the job is created,
 * and at that time the command line has read only this many URLs: it reads the list as a stream.
 */
export const DIGEST_URLS = 1_000;

/** `urls`: the list of URLs, or only the beginning of the list. `isWhole`: whether `urls` is the whole list. */
export function digestJob(job: JobInput, urls: readonly string[], { isWhole }: { isWhole: boolean }): JobDigest {
  const first = urls.slice(0, DIGEST_URLS).flatMap(digestedEntry);
  const hasMore = urls.length > DIGEST_URLS;
  return {
    job: hash("sha256", JSON.stringify([sorted(definitionOf(job)), first])),
    ...(isWhole && hasMore ? { list: hash("sha256", urls.join("\n")) } : {}),
  };
}

/** The part of an entry that the digest covers: the canonical URL, and the request if there is one. */
function digestedEntry(entry: string): unknown[] {
  const read = readEntry(entry);
  const url = "problem" in read ? undefined : canonicalUrl(read.url);
  if (url === undefined) return [];
  if ("isSitemap" in read) return [{ url, sitemap: true }];
  return "request" in read ? [{ url, request: read.request }] : [url];
}

/** Whether the job that exists under a key is the one that is submitted again. */
export function isSameJob(existing: JobSpec, submitted: JobSpec): boolean {
  const [before, now] = [existing.digest, submitted.digest];
  // Jobs of older versions have no digest.
  if (before === undefined || now === undefined) return isSameWork(existing, submitted);
  const isSameList = before.list === undefined || now.list === undefined || before.list === now.list;
  return before.job === now.job && isSameList;
}

/**
 * Parts that mean the same whether they are empty or left out. The command line sends them empty if no flag sets them.
 */
const OPTIONAL_PARTS = ["politeness", "retries", "limits", "keep", "headers"];

function definitionOf({ urls: _, headers = {}, ...job }: JobInput): object {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const parts = Object.entries({ ...job, headers: Object.fromEntries(named) });
  return Object.fromEntries(parts.filter(([name, part]) => !(OPTIONAL_PARTS.includes(name) && isEmpty(part))));
}

function isEmpty(part: unknown): boolean {
  return Object.values(part as object).every((value) => value === undefined);
}

/** The same value with the keys of every object in alphabetical order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
}
