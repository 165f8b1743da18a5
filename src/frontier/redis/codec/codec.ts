/** Encodes tasks, settlements and returned terms as script arguments, and decodes grants and terms from replies. */
import type { BackoffCause } from "../../../domain/backoff.ts";
import { fingerprint, fingerprintInteger } from "../../../domain/fingerprint.ts";
import type { ReturnedTerm, Term } from "../../../domain/politeness.ts";
import type { NewTask } from "../../../domain/task.ts";
import type { Grant, Settlement, TaskOutcome } from "../../frontier.ts";
import type { Reply, ScriptArg } from "../connection/broker-client.ts";
import { decodeBody, encodeBody } from "./task-body.ts";

/** The lanes of a call: each is sent once, and tasks refer to it by its index, starting at 1. */
type LaneTable = { encode(): ScriptArg[]; indexOf(task: NewTask): number };

export function createLaneTable(): LaneTable {
  const lanesOf = new Map<string, { queue: string; priority: number; index: number }[]>();
  const args: ScriptArg[] = [];
  return {
    encode: () => [args.length / 3, ...args],
    indexOf({ site, queue, priority }) {
      const lanes = lanesOf.get(site) ?? [];
      const existing = lanes.find((lane) => lane.queue === queue && lane.priority === priority);
      if (existing !== undefined) return existing.index;
      args.push(site, queue, priority);
      const index = args.length / 3;
      lanesOf.set(site, [...lanes, { queue, priority, index }]);
      return index;
    },
  };
}

/** Encodes three values per task: its lane (negative for the target of a redirect), its fingerprint and its body. */
export function encodeTasks(tasks: readonly NewTask[], lanes: LaneTable): ScriptArg[] {
  const args: ScriptArg[] = [];
  for (const task of tasks) {
    args.push(signedIndex(lanes, task), encodeFingerprint(task.url), encodeBody(task));
  }
  return args;
}

/** The index of the task's lane, negative for the target of a redirect. */
function signedIndex(lanes: LaneTable, task: NewTask): number {
  const index = lanes.indexOf(task);
  return task.redirects !== undefined && task.redirects > 0 ? -index : index;
}

/**
 * Encodes tasks as five JSON lists, see lua/lib/admit-many.lua. In the client library, few long arguments take less
 * time than many short ones.
 */
export function encodeSubmitted(tasks: readonly NewTask[]): ScriptArg[] {
  const lanes = createLaneTable();
  const runs: number[] = [];
  const fingerprints: string[] = [];
  const bodies: string[] = [];
  let last: NewTask | undefined;
  for (const task of tasks) {
    if (last !== undefined && isSameRun(task, last)) runs[runs.length - 1] = (runs.at(-1) ?? 0) + 1;
    else runs.push(signedIndex(lanes, task), 1);
    last = task;
    fingerprints.push(encodeFingerprint(task.url));
    bodies.push(encodeBody(task));
  }
  return [...encodeLanes(lanes.encode().slice(1)), runs, fingerprints, bodies].map((list) => JSON.stringify(list));
}

function isSameRun(one: NewTask, other: NewTask): boolean {
  return (
    one.site === other.site &&
    one.queue === other.queue &&
    one.priority === other.priority &&
    one.redirects === other.redirects
  );
}

/** Returns the sites and the routes, as lua/lib/admit-many.lua expects them. */
function encodeLanes(lanes: readonly ScriptArg[]): [sites: ScriptArg[], routes: ScriptArg[]] {
  const sites: ScriptArg[] = [];
  const routes: ScriptArg[] = [];
  for (let at = 0; at < lanes.length; at += 3) {
    const [site = "", queue = "", priority = 0] = lanes.slice(at, at + 3);
    sites.push(site);
    if (routes.at(-3) === queue && routes.at(-2) === priority) routes.push(Number(routes.pop()) + 1);
    else routes.push(queue, priority, 1);
  }
  return [sites, routes];
}

export function encodeFingerprint(url: string): string {
  return fingerprintInteger(fingerprint(url)).toString();
}

/** Encodes ten values and the number of links. The caller appends the links, encoded by encodeTasks. */
export function encodeSettlement(
  { taskId, token, outcome, site, refusedLinks, tally }: Settlement,
  { known, links }: { known: number; links: number },
): ScriptArg[] {
  const { pages, records, invalid, bytes } = tally;
  return [
    taskId,
    token,
    encodeOutcome(outcome),
    encodeSiteSignal(site),
    refusedLinks,
    known,
    pages,
    records,
    invalid,
    bytes,
    links,
  ];
}

function encodeOutcome(outcome: TaskOutcome): string {
  if (outcome.kind === "done" || outcome.kind === "refused") return outcome.kind;
  const { kind, because, status, detail } = outcome;
  const told = JSON.stringify({ because, status, detail }).slice(1, -1);
  const retryAfterMs = outcome.kind === "retry" ? outcome.retryAfterMs : undefined;
  return JSON.stringify({ kind, because, status, retryAfterMs, told });
}

function encodeSiteSignal(site: Settlement["site"]): string {
  if (site.kind === "ok") return "ok";
  if (site.kind === "unknown") return "";
  const signal = site.cause === undefined ? "throttled" : `throttled:${site.cause}`;
  return site.retryAfterMs === undefined ? signal : `${signal} ${site.retryAfterMs}`;
}

/** Encodes six values, see return_term in lua/lib/terms.lua. `fromNow`: the function of the shard's BrokerClock. */
export function encodeReturned(
  { number, intervalMs, burst, arrivalAt, slowdown, slowdownCause }: ReturnedTerm,
  fromNow: (at: number) => number,
): ScriptArg[] {
  const cause = slowdownCause === undefined ? "" : JSON.stringify(slowdownCause);
  return [number, intervalMs, burst, fromNow(arrivalAt), slowdown, cause];
}

/** Decodes a term in the broker's time, see open_term in lua/lib/terms.lua. */
export function decodeTerm(site: string, text: string): Term {
  const fields = text.split(" ").map(Number);
  const [number = 0, intervalMs = 0, burst = 1, startsAt = 0, endsAt = 0, arrivalAt = 0, concurrent = 0] = fields;
  const [slowdown = 1, isolated = 0, isGood = 1] = fields.slice(7);
  const throttling = { isolated, isGood: isGood === 1 };
  return { site, number, intervalMs, burst, startsAt, endsAt, arrivalAt, concurrent, slowdown, throttling };
}

/** Decodes a reply of lease.lua. The terms are in the broker's time. */
export function decodeGrants(reply: Reply): { grants: Grant[]; terms: Term[] } {
  const grants: Grant[] = [];
  const terms: Term[] = [];
  let at = 3;
  const next = () => reply[at++] ?? "";
  while (at < reply.length) {
    const site = String(next());
    const term = String(next());
    if (term !== "") terms.push(decodeTerm(site, term));
    const from = { site, mustFetchRobots: next() === 1 };
    for (let jobs = Number(next()); jobs > 0; jobs--) {
      const jobId = String(next());
      for (let tasks = Number(next()); tasks > 0; tasks--) grants.push(decodeGrant(from, jobId, String(next())));
    }
  }
  return { grants, terms };
}

/** Decodes a grant: "id body" for the first grant of a task, "!id token failures body" for a later one. */
function decodeGrant(
  { site, mustFetchRobots }: Pick<Grant, "site" | "mustFetchRobots">,
  jobId: string,
  text: string,
): Grant {
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
    mustFetchRobots,
  };
}

/** Decodes the cause of a backoff. Scripts reply "" for an unknown cause. */
export function decodeCause(text: string | number | undefined): BackoffCause | undefined {
  return text === undefined || text === "" ? undefined : (String(text) as BackoffCause);
}
