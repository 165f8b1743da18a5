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
  /** A number that grows with every request to the site. */
  turn: number;
  /** From 0 to 1. */
  random: number;
};

export type ChosenExit = { exit: Exit; tier: number; isProbe: boolean };

/** The share of requests that use any healthy exit of the tier instead of one of the best. */
const EXPLORED = 0.05;
/** Exits whose score is at least this share of the best score are used in turn. */
const NEARLY_BEST = 0.6;
/** The same for an exit that stays the same: a small difference must not change it. */
const STICKY = 0.25;

/** Undefined if no exit has the tags, the region and the scheme, or all of them have failed this request. */
export function chooseExit(question: ExitQuestion, facts: Facts): ChosenExit | undefined {
  const { tier: first, lastTier } = question;
  for (let tier = first; tier <= lastTier; tier++) {
    const candidates = exitsOfTier(question, facts.exits, tier);
    const chosen = chooseHealthy(candidates, question, facts);
    if (chosen !== undefined) return { ...chosen, tier };
    // Only a block leads to the next tier, which may be more expensive.
    if (candidates.length > 0 && !candidates.some((exit) => facts.healthAtSite(exit.id).because === "blocked")) break;
  }
  const [leastBad] = exitsOfTier(question, facts.exits, first).sort((one, other) => endOf(one) - endOf(other));
  return leastBad === undefined ? undefined : { exit: leastBad, tier: first, isProbe: false };

  function endOf({ id }: Exit): number {
    return Math.max(facts.healthAtSite(id).ejectedUntil, facts.healthOf(id).ejectedUntil);
  }
}

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
      (rules.region === undefined || exit.tags.includes(rules.region)) &&
      (exit.scheme === undefined || exit.scheme === scheme) &&
      !avoid.has(exit.id),
  );
}

function chooseHealthy(
  candidates: readonly Exit[],
  question: ExitQuestion,
  facts: Facts,
): Omit<ChosenExit, "tier"> | undefined {
  const healthy: { exit: Exit; score: number }[] = [];
  for (const exit of candidates) {
    const standing = worseStanding(facts.healthOf(exit.id), facts.healthAtSite(exit.id), facts.now);
    // An exit whose ejection is over is tried at once, by one request. If it fails, it is ejected for longer.
    if (standing === "probation" && !facts.isProbed(exit.id)) return { exit, isProbe: true };
    if (standing === "healthy") healthy.push({ exit, score: scoreOf(facts.healthAtSite(exit.id), exit.cost) });
  }
  if (healthy.length === 0) return undefined;
  const best = Math.max(...healthy.map(({ score }) => score));
  const { rotate } = question.rules;
  if (rotate !== "request") {
    const key = (rotate === "session" ? question.session : undefined) ?? question.site;
    const near = healthy.filter(({ score }) => score >= best * STICKY);
    return { exit: stickyExit(near, key), isProbe: false };
  }
  const isExplored = facts.random < EXPLORED;
  const near = isExplored ? healthy : healthy.filter(({ score }) => score >= best * NEARLY_BEST);
  const { exit } = near[facts.turn % near.length] ?? { exit: undefined };
  return exit === undefined ? undefined : { exit, isProbe: false };
}

function worseStanding(one: Health, other: Health, now: number) {
  const [first, second] = [standingOf(one, now), standingOf(other, now)];
  if (first === "ejected" || second === "ejected") return "ejected";
  return first === "probation" || second === "probation" ? "probation" : "healthy";
}

/** The same exit for the same key in every process. If an exit is ejected, only its own keys move (rendezvous hashing). */
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
