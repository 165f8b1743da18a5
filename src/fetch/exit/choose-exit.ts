/**
 * Chooses the exit of a request: the best by success per cost, and now and then another one, so that its health is
 * known. Pure.
 */
import type { Exit, ExitRules } from "../../domain/exit.ts";
import { type Health, scoreOf, standingOf } from "./health.ts";

export type ExitQuestion = {
  rules: ExitRules;
  site: string;
  /** The identity that the request belongs to. With `rotate: "session"`, its exit stays the same. */
  session?: string | undefined;
  /** The scheme of the requested URL, such as `https:`. */
  scheme: string;
  /** The first tier to use: 0 is `use`, the following ones are the tags of `fallbacks`. */
  tier: number;
  /** The last tier that may be used. */
  lastTier: number;
  /** Exits that have failed this request. */
  avoid: ReadonlySet<string>;
};

type Facts = {
  exits: readonly Exit[];
  /** Health at the site, and of the exit itself. */
  healthAtSite(exitId: string): Health;
  healthOf(exitId: string): Health;
  /** Whether a request is trying an exit whose ejection is over. */
  isProbed(exitId: string): boolean;
  now: number;
  /** The number of requests to the site so far. */
  requestNumber: number;
  /** From 0 to 1. */
  random: number;
};

export type ChosenExit = { exit: Exit; tier: number; isProbe: boolean };

/** The share of requests that use any healthy exit of the tier instead of one of the best. */
const EXPLORED = 0.05;
/** Exits whose score is at least this share of the best score are used in turn. */
const NEARLY_BEST = 0.6;
/** The same share for `rotate: "session"` and `"site"`. It is lower, so that small differences do not change the exit. */
const STICKY = 0.25;

/**
 * If all exits are ejected, the one whose ejection ends first is chosen. Undefined if no exit has the tags, the region and
 * the scheme, or all of them have failed this request.
 */
export function chooseExit(question: ExitQuestion, facts: Facts): ChosenExit | undefined {
  const ejected: { exit: Exit; tier: number }[] = [];
  for (let tier = question.tier; tier <= question.lastTier; tier++) {
    const all = exitsOfTier({ ...question, avoid: NONE }, facts.exits, tier);
    const candidates = all.filter(({ id }) => !question.avoid.has(id));
    const chosen = chooseUsable(candidates, question, facts);
    if (chosen !== undefined) return { ...chosen, tier };
    ejected.push(...candidates.map((exit) => ({ exit, tier })));
    // Only a block leads to the next tier, which may be more expensive. The exits to avoid are included: if they are
    // down, the tier has no candidates, but the site has not blocked it.
    if (all.length > 0 && !all.some((exit) => facts.healthAtSite(exit.id).because === "blocked")) break;
  }
  const [leastBad] = ejected.sort((one, other) => endOf(one.exit) - endOf(other.exit));
  return leastBad === undefined ? undefined : { ...leastBad, isProbe: false };

  function endOf({ id }: Exit): number {
    return Math.max(facts.healthAtSite(id).ejectedUntil, facts.healthOf(id).ejectedUntil);
  }
}

const NONE: ReadonlySet<string> = new Set();

/** The number of tiers of a job. */
export function tiersOf({ fallbacks }: ExitRules): number {
  return 1 + fallbacks.length;
}

/** The exits of a tier that fit the request and have not failed it. */
export function exitsOfTier(
  { rules, scheme, avoid }: Pick<ExitQuestion, "rules" | "scheme" | "avoid">,
  exits: readonly Exit[],
  tier: number,
): Exit[] {
  const tags = tier === 0 ? rules.use : rules.fallbacks.slice(tier - 1, tier);
  return exits.filter(
    (exit) =>
      (tags.length === 0 || tags.some((tag) => exit.tags.includes(tag))) &&
      (rules.region === undefined || exit.region === rules.region) &&
      (exit.scheme === undefined || exit.scheme === scheme) &&
      !avoid.has(exit.id),
  );
}

/** Chooses a healthy exit, or one whose ejection is over. */
function chooseUsable(
  candidates: readonly Exit[],
  question: ExitQuestion,
  facts: Facts,
): Omit<ChosenExit, "tier"> | undefined {
  const healthy: { exit: Exit; score: number }[] = [];
  const toProbe: { exit: Exit }[] = [];
  for (const exit of candidates) {
    const standing = worseStanding(facts.healthOf(exit.id), facts.healthAtSite(exit.id), facts.now);
    if (standing === "probation" && !facts.isProbed(exit.id)) toProbe.push({ exit });
    if (standing === "healthy") healthy.push({ exit, score: scoreOf(facts.healthAtSite(exit.id), exit) });
  }
  const { rotate } = question.rules;
  const key = (rotate === "session" ? question.session : undefined) ?? question.site;
  // One request at a time tries an exit whose ejection is over. A request tries at most one of them if there are healthy
  // exits, so that several bad exits do not delay it. A request that has to keep its exit tries none of them.
  const mayProbe = healthy.length === 0 || (rotate === "request" && question.avoid.size === 0);
  if (toProbe[0] !== undefined && mayProbe) {
    return { exit: rotate === "request" ? toProbe[0].exit : stickyExit(toProbe, key), isProbe: true };
  }
  if (healthy.length === 0) return undefined;
  const best = Math.max(...healthy.map(({ score }) => score));
  if (rotate !== "request") {
    const near = healthy.filter(({ score }) => score >= best * STICKY);
    return { exit: stickyExit(near, key), isProbe: false };
  }
  const isExplored = facts.random < EXPLORED;
  const near = isExplored ? healthy : healthy.filter(({ score }) => score >= best * NEARLY_BEST);
  const { exit } = near[facts.requestNumber % near.length] ?? { exit: undefined };
  return exit === undefined ? undefined : { exit, isProbe: false };
}

function worseStanding(one: Health, other: Health, now: number) {
  const [first, second] = [standingOf(one, now), standingOf(other, now)];
  if (first === "ejected" || second === "ejected") return "ejected";
  return first === "probation" || second === "probation" ? "probation" : "healthy";
}

/**
 * Rendezvous hashing: every process chooses the same exit for a key. If an exit is ejected, only the keys that used it
 * get another exit.
 */
function stickyExit(candidates: readonly { exit: Exit }[], key: string): Exit {
  const [first] = [...candidates].sort((one, other) => weight(other.exit.id, key) - weight(one.exit.id, key));
  if (first === undefined) throw new Error("there is no exit to choose from");
  return first.exit;
}

/** FNV-1a, finished with the mixer of murmur3. */
function weight(id: string, key: string): number {
  let hash = 0x811c9dc5;
  for (const char of `${id} ${key}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
