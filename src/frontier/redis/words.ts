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
  const places = new Map<string, number>();
  const words: Word[] = [];
  return {
    words: () => [places.size, ...words],
    placeOf({ site, queue, priority }) {
      const name = `${site} ${priority} ${queue}`;
      const known = places.get(name);
      if (known !== undefined) return known;
      places.set(name, places.size + 1);
      words.push(site, queue, priority);
      return places.size;
    },
  };
}

/** Three words a task: its lane, negative where it continues a page after a redirect; fingerprint; body. */
export function taskWords(tasks: readonly NewTask[], lanes: LaneBook): Word[] {
  return tasks.flatMap((task) => {
    const place = lanes.placeOf(task);
    const continuesPage = task.redirects !== undefined && task.redirects > 0;
    return [continuesPage ? -place : place, fingerprintWord(task.url), encodeBody(task)];
  });
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
export function readGrants(reply: Reply, now: number, slotHere: (slot: Slot) => Slot): Grant[] {
  const grants: Grant[] = [];
  for (let at = 3; at < reply.length; ) {
    const [site, arrival, intervalMs, burst, asks, count] = reply.slice(at, at + 6);
    const turn = { site: String(site), mustAskRobots: asks === 1 };
    const policy: SitePolicy = { intervalMs: Number(intervalMs), burst: Number(burst), perSite: 0 };
    let arrivalAt = Number(arrival);
    at += 6;
    for (const end = at + 2 * Number(count); at < end; at += 2) {
      const slot = takeSlot(now, arrivalAt, policy);
      arrivalAt = slot.arrivalAt;
      grants.push(readGrant(turn, String(reply[at]), String(reply[at + 1]), slotHere(slot)));
    }
  }
  return grants;
}

type Turn = { site: string; mustAskRobots: boolean };

function readGrant({ site, mustAskRobots }: Turn, jobId: string, text: string, slot: Slot): Grant {
  const afterId = text.indexOf(" ");
  const afterToken = text.indexOf(" ", afterId + 1);
  const afterFailures = text.indexOf(" ", afterToken + 1);
  return {
    taskId: text.slice(0, afterId),
    token: Number(text.slice(afterId + 1, afterToken)),
    jobId,
    site,
    attempt: Number(text.slice(afterToken + 1, afterFailures)) + 1,
    ...decodeBody(text.slice(afterFailures + 1), site),
    slot,
    mustAskRobots,
  };
}
