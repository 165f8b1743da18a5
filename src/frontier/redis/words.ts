/** How tasks and settlements are put into words for the scripts, and grants read from their replies. */
import { fingerprint, fingerprintInteger } from "../../domain/fingerprint.ts";
import { type SitePolicy, type Slot, takeSlot } from "../../domain/politeness.ts";
import type { NewTask } from "../../domain/task.ts";
import type { Grant, Settlement, TaskOutcome } from "../frontier.ts";
import type { Reply, Word } from "./broker.ts";
import { decodeBody, encodeBody } from "./task-body.ts";

/** Lanes are named once a call; tasks point at them. */
export type LaneBook = { words(): Word[]; placeOf(task: NewTask): number };

export function createLaneBook(): LaneBook {
  const lanesOf = new Map<string, { queue: string; priority: number; place: number }[]>();
  const words: Word[] = [];
  return {
    words: () => [words.length / 3, ...words],
    placeOf({ site, queue, priority }) {
      const lanes = lanesOf.get(site) ?? [];
      const known = lanes.find((lane) => lane.queue === queue && lane.priority === priority);
      if (known !== undefined) return known.place;
      words.push(site, queue, priority);
      const place = words.length / 3;
      lanesOf.set(site, [...lanes, { queue, priority, place }]);
      return place;
    },
  };
}

/** Three words a task: its lane, negative where it continues a page after a redirect; fingerprint; body. */
export function taskWords(tasks: readonly NewTask[], lanes: LaneBook): Word[] {
  const words: Word[] = [];
  for (const task of tasks) {
    const place = lanes.placeOf(task);
    const continuesPage = task.redirects !== undefined && task.redirects > 0;
    words.push(continuesPage ? -place : place, fingerprintWord(task.url), encodeBody(task));
  }
  return words;
}

export function fingerprintWord(url: string): string {
  return fingerprintInteger(fingerprint(url)).toString();
}

/** Ten words and the number of links; the links' own words follow. */
export function settlementWords(
  { taskId, token, outcome, site, refusedLinks, tally }: Settlement,
  { known, links }: { known: number; links: number },
): Word[] {
  const { pages, records, invalid, bytes } = tally;
  return [
    taskId,
    token,
    outcomeWord(outcome),
    siteWord(site),
    refusedLinks,
    known,
    pages,
    records,
    invalid,
    bytes,
    links,
  ];
}

function outcomeWord(outcome: TaskOutcome): string {
  if (outcome.kind === "done" || outcome.kind === "refused") return outcome.kind;
  const { kind, because, status, detail } = outcome;
  const told = JSON.stringify({ because, status, detail }).slice(1, -1);
  const retryAfterMs = outcome.kind === "retry" ? outcome.retryAfterMs : undefined;
  return JSON.stringify({ kind, because, status, retryAfterMs, told });
}

function siteWord(site: Settlement["site"]): string {
  if (site.kind === "ok") return "ok";
  if (site.kind === "unknown") return "";
  return site.retryAfterMs === undefined ? "throttled" : `throttled ${site.retryAfterMs}`;
}

/** Reads what lease.lua granted: per site its state before, then its tasks, which take their slots in that order. */
export function readGrants(
  reply: Reply,
  { now, leadMs }: { now: number; leadMs: number },
  slotHere: (slot: Slot) => Slot,
): Grant[] {
  const grants: Grant[] = [];
  let at = 3;
  const next = () => reply[at++] ?? "";
  while (at < reply.length) {
    const site = String(next());
    let arrivalAt = Number(next());
    const policy: SitePolicy = { intervalMs: Number(next()), burst: Number(next()), perSite: 0 };
    const turn = { site, mustAskRobots: next() === 1 };
    for (let jobs = Number(next()); jobs > 0; jobs--) {
      const jobId = String(next());
      for (let tasks = Number(next()); tasks > 0; tasks--) {
        // Without an interval there is nothing to be in time for but the end of a back-off, told in place of the burst.
        const from = policy.intervalMs === 0 ? Math.max(now, policy.burst) : now + leadMs;
        const slot = takeSlot(from, arrivalAt, policy);
        arrivalAt = slot.arrivalAt;
        grants.push(readGrant(turn, jobId, String(next()), slotHere(slot)));
      }
    }
  }
  return grants;
}

type Turn = { site: string; mustAskRobots: boolean };

/** "id body" of a task in its first lease; "!id token failures body" of one that was granted before. */
function readGrant({ site, mustAskRobots }: Turn, jobId: string, text: string, slot: Slot): Grant {
  const isFirst = !text.startsWith("!");
  const afterId = text.indexOf(" ");
  const afterToken = isFirst ? afterId : text.indexOf(" ", afterId + 1);
  const afterFailures = isFirst ? afterId : text.indexOf(" ", afterToken + 1);
  return {
    taskId: text.slice(isFirst ? 0 : 1, afterId),
    token: isFirst ? 1 : Number(text.slice(afterId + 1, afterToken)),
    jobId,
    site,
    attempt: isFirst ? 1 : Number(text.slice(afterToken + 1, afterFailures)) + 1,
    ...decodeBody(text.slice(afterFailures + 1), site),
    slot,
    mustAskRobots,
  };
}
