/**
 * Compares a page of a recrawl with its page memory, and computes the new memory. Pure: fetch-page.ts loads memories,
 * and the settler writes them together with the page.
 */
import { hash } from "node:crypto";
import type { Page } from "../../domain/page.ts";
import { pageUrlOf } from "../../domain/task-url.ts";
import { conditionalHeaders, type Validators, validatorsOf } from "../../domain/validators.ts";
import type { Grant } from "../../frontier/frontier.ts";
import type { ExtractedPage } from "../../spider/page-reader.ts";
import type { MemoryWrite, PageMemory } from "../../store/page-memory.ts";
import type { JobPlan } from "./plan.ts";

/** One page of a recrawl. `before` is its page memory, if it has one. */
export type Revisit = { set: string; emit: "all" | "changed"; before: PageMemory | undefined };

type Task = { grant: Grant; plan: JobPlan };

/** The validators of a conditional request; undefined if the page must be fetched in full. */
export function validatorsFor({ grant, plan }: Task, { before }: Revisit): Validators | undefined {
  // Content that was not stored, or was extracted in another way, cannot be reused.
  if (before?.content === undefined || before.reads !== plan.digestOf(grant)) return undefined;
  const { etag, lastModified } = before;
  return etag === undefined && lastModified === undefined ? undefined : { etag, lastModified };
}

/** The content that an earlier crawl extracted, for a page that the site reports as unchanged. */
export function readBefore({ before }: Revisit): ExtractedPage {
  if (before?.content === undefined) throw new Error("a conditional request was sent for a page without a page memory");
  return JSON.parse(before.content) as ExtractedPage;
}

export function isAsBefore({ before }: Revisit, extracted: ExtractedPage): boolean {
  return before?.fingerprint !== undefined && before.fingerprint === fingerprintOf(extracted);
}

/** The extracted content that is stored: without the records of an unchanged page if the set emits only changes. */
export function emitted({ emit }: Revisit, extracted: ExtractedPage, isSame: boolean): ExtractedPage {
  return isSame && emit === "changed" ? { ...extracted, records: [], invalid: [] } : extracted;
}

/**
 * The new memory of a page that was read; undefined if the stored memory is already the same. The content is stored
 * only if the page has validators and the content is at most `maxContent` bytes. A rendered page never has validators:
 * it depends on more than its document.
 */
export function memoryOf(
  { grant, plan }: Task,
  { set, before }: Revisit,
  { page, extracted, isRendered }: { page: Page; extracted: ExtractedPage; isRendered: boolean },
  maxContent: number,
): MemoryWrite | undefined {
  const validators = isRendered ? NONE : validatorsOf(page);
  const hasValidators = validators.etag !== undefined || validators.lastModified !== undefined;
  const content = hasValidators ? contentOf(plan, page, extracted, maxContent) : undefined;
  const memory: Omit<PageMemory, "jobId" | "fetchedAt"> = {
    ...(content === undefined ? NONE : validators),
    reads: plan.digestOf(grant),
    fingerprint: fingerprintOf(extracted),
    content,
  };
  const isKnown = (Object.keys(memory) as (keyof typeof memory)[]).every((key) => memory[key] === before?.[key]);
  return isKnown && isFirstAttempt(grant) ? undefined : written(grant, set, { ...memory, fetchedAt: page.fetchedAt });
}

/** The new memory of a page that the site reports as unchanged; undefined if the stored memory remains valid. */
export function memoryOfSame({ grant }: Task, { set, before }: Revisit): MemoryWrite | undefined {
  return before === undefined || isFirstAttempt(grant) ? undefined : written(grant, set, before);
}

/**
 * Only the first attempt may skip the write. In a later attempt, the stored memory may be outdated: an earlier attempt
 * may have written the memory of another version of the page and then crashed.
 */
function isFirstAttempt({ token }: Grant): boolean {
  return token === 1;
}

/**
 * The new memory of a page that no longer exists; undefined if there is no memory to clear. If the page exists again
 * later, it counts as new.
 */
export function memoryOfGone(
  { grant, plan }: Task,
  { set, before }: Revisit,
  fetchedAt: number,
): MemoryWrite | undefined {
  if (before?.fingerprint === undefined && isFirstAttempt(grant)) return undefined;
  const nothing = { ...NONE, fingerprint: undefined, content: undefined };
  return written(grant, set, { ...nothing, reads: plan.digestOf(grant), fetchedAt });
}

/** Whether the job sends its own conditional headers. Trawl cannot interpret the response to those. */
export function hasOwnConditions(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(conditionalHeaders({ etag: "", lastModified: "" })).some((name) => name in headers);
}

const NONE: Validators = { etag: undefined, lastModified: undefined };

function written({ jobId, taskId, token, url }: Grant, set: string, memory: Omit<PageMemory, "jobId">): MemoryWrite {
  return { ...memory, set, url: pageUrlOf(url), jobId, taskId, token };
}

/**
 * The content as JSON; undefined if it is larger than `max` bytes. Links that the filter rejects are not stored: a job
 * with another filter has another digest and reads the page itself.
 */
function contentOf({ linkFilter }: JobPlan, { url }: Page, extracted: ExtractedPage, max: number): string | undefined {
  const links = linkFilter === undefined ? [] : extracted.links.filter(linkFilter.from(url));
  const { records, invalid, wanted } = extracted;
  const content = JSON.stringify({ records, invalid, links, wanted } satisfies ExtractedPage);
  return Buffer.byteLength(content) <= max ? content : undefined;
}

/** A fingerprint of the records only. A page whose links alone have changed counts as unchanged. */
function fingerprintOf({ records, invalid }: ExtractedPage): string {
  const fields = invalid.map((one) => one.fields);
  return hash("sha256", JSON.stringify([records, fields], inOrder), "base64url").slice(0, 27);
}

/** Sorts keys, so that the order in which a handler sets fields does not matter. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
