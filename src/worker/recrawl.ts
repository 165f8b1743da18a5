/**
 * What a recrawl makes of a page: compares what was read with what its set remembers, and says what is to be remembered
 * from now on. Pure: run-task.ts asks for memories, and the settler writes them with the page.
 */
import { hash } from "node:crypto";
import type { Page } from "../domain/page.ts";
import { pageUrlOf } from "../domain/step-url.ts";
import { conditionalHeaders, type Validators, validatorsOf } from "../domain/validators.ts";
import type { Grant } from "../frontier/frontier.ts";
import type { MemoryWrite, PageMemory } from "../store/page-memory.ts";
import type { JobPlan, Reading } from "./plan.ts";

/** One page of a recrawl: what its set remembers of it, if anything. */
export type Revisit = { set: string; emit: "all" | "changed"; before: PageMemory | undefined };

type Task = { grant: Grant; plan: JobPlan };

/** What the site can be asked by; undefined where the page has to be fetched in full. */
export function validatorsFor({ grant, plan }: Task, { before }: Revisit): Validators | undefined {
  // What was read in another way, or not kept, could not be taken over: the page itself is needed.
  if (before?.content === undefined || before.reads !== plan.readsOf(grant)) return undefined;
  const { etag, lastModified } = before;
  return etag === undefined && lastModified === undefined ? undefined : { etag, lastModified };
}

/** What was read the last time; the site says that it would be read again. */
export function readBefore({ before }: Revisit): Reading {
  if (before?.content === undefined) throw new Error("a page that is not remembered was asked about");
  return JSON.parse(before.content) as Reading;
}

export function isAsBefore({ before }: Revisit, reading: Reading): boolean {
  return before?.fingerprint !== undefined && before.fingerprint === fingerprintOf(reading);
}

/** What goes out of what was read. */
export function emitted({ emit }: Revisit, reading: Reading, isSame: boolean): Reading {
  return isSame && emit === "changed" ? { ...reading, records: [], invalid: [] } : reading;
}

/**
 * What is to be remembered of a page that was read; undefined where that is known already. What is needed to take a page
 * over is kept only where the site can be asked about it, and where it is not too much. What a browser showed depends on
 * more than the document that the site can be asked about.
 */
export function memoryOf(
  { grant, plan }: Task,
  { set, before }: Revisit,
  { page, reading, isRendered }: { page: Page; reading: Reading; isRendered: boolean },
  contentMost: number,
): MemoryWrite | undefined {
  const validators = isRendered ? NONE : validatorsOf(page);
  const isAskable = validators.etag !== undefined || validators.lastModified !== undefined;
  const content = isAskable ? contentOf(plan, page, reading, contentMost) : undefined;
  const memory: Omit<PageMemory, "jobId" | "fetchedAt"> = {
    ...(content === undefined ? NONE : validators),
    reads: plan.readsOf(grant),
    fingerprint: fingerprintOf(reading),
    content,
  };
  const isKnown = (Object.keys(memory) as (keyof typeof memory)[]).every((key) => memory[key] === before?.[key]);
  return isKnown && isFirstRun(grant) ? undefined : written(grant, set, { ...memory, fetchedAt: page.fetchedAt });
}

/** The same of a page that the site says is unchanged. */
export function memoryOfSame({ grant }: Task, { set, before }: Revisit): MemoryWrite | undefined {
  return before === undefined || isFirstRun(grant) ? undefined : written(grant, set, before);
}

/** An earlier run of the task may have found another page, remembered that, and died: what is written now has to win. */
function isFirstRun({ token }: Grant): boolean {
  return token === 1;
}

/** A page that is no longer there; undefined where nothing can be remembered of it. Should it come back, it is new. */
export function memoryOfGone({ grant, plan }: Task, { set, before }: Revisit): MemoryWrite | undefined {
  if (before?.fingerprint === undefined && isFirstRun(grant)) return undefined;
  const nothing = { ...NONE, fingerprint: undefined, content: undefined };
  return written(grant, set, { ...nothing, reads: plan.readsOf(grant), fetchedAt: grant.slot.sendAt });
}

/** Whether a job sends conditions of its own: what an answer to those means, only its author knows. */
export function hasOwnConditions(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(conditionalHeaders({ etag: "", lastModified: "" })).some((name) => name in headers);
}

const NONE: Validators = { etag: undefined, lastModified: undefined };

function written({ jobId, taskId, token, url }: Grant, set: string, memory: Omit<PageMemory, "jobId">): MemoryWrite {
  return { ...memory, set, url: pageUrlOf(url), jobId, taskId, token };
}

/** Links that lead out of scope would only fill the store: how far links may lead is part of how a page is read. */
function contentOf({ scope }: JobPlan, { url }: Page, reading: Reading, most: number): string | undefined {
  const links = scope === undefined ? [] : reading.links.filter(scope.from(url));
  const { records, invalid, wanted } = reading;
  const content = JSON.stringify({ records, invalid, links, wanted } satisfies Reading);
  return Buffer.byteLength(content) <= most ? content : undefined;
}

/** Of the records alone: a page whose links or clock have changed says the same. */
function fingerprintOf({ records, invalid }: Reading): string {
  const fields = invalid.map((one) => one.fields);
  return hash("sha256", JSON.stringify([records, fields], inOrder), "base64url").slice(0, 27);
}

/** Two objects with the same fields are the same, in whatever order a handler has set them. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
