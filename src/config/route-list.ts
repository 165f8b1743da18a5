/**
 * The setting `routes`: rules that select the queue and priority of jobs and URLs. It is an array in a config file, and
 * JSON in the environment.
 */

import { globProblem } from "../domain/glob.ts";
import { QUEUE_NAME } from "../domain/queue-name.ts";
import { domainProblem, type Route, type RouteMatch } from "../domain/route.ts";
import type { Field } from "./fields.ts";

const ROUTE_KEYS = ["match", "queue", "priority"];

/** Checks of one pattern, by key of `match`. Each returns a message that is appended to the pattern. */
const PATTERN_PROBLEM: Record<keyof RouteMatch, (pattern: string) => string | undefined> = {
  spider: nameProblem,
  job: nameProblem,
  domain: domainProblem,
  url: globProblem,
};
const MATCH_KEYS = Object.keys(PATTERN_PROBLEM) as (keyof RouteMatch)[];

export function routeList({ env, doc }: { env: string; doc: string }): Required<Field<readonly Route[]>> {
  return {
    default: "",
    env,
    doc,
    isSecret: false,
    takes: "a list of routes",
    parse(raw) {
      const routes = read(raw);
      return typeof routes === "string" ? undefined : routes;
    },
    problemOf: (raw) => {
      const problem = read(raw);
      return typeof problem === "string" ? problem : "";
    },
  };
}

/** The routes, or a message that names the invalid entry. */
function read(raw: unknown): readonly Route[] | string {
  const entries = typeof raw === "string" ? fromJson(raw) : raw;
  if (!Array.isArray(entries)) return `routes (TRAWL_ROUTES) takes a list such as ${EXAMPLE}`;
  const routes: Route[] = [];
  for (const [index, entry] of entries.entries()) {
    const route = readRoute(entry);
    if (typeof route === "string") return `routes[${index}]${route}`;
    routes.push(route);
  }
  return routes;
}

const EXAMPLE = '[{ match: { domain: "*.a.example" }, queue: "slow_lane", priority: 9 }]';

function fromJson(text: string): unknown {
  if (text.trim() === "") return [];
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The route, or a message that is appended to the name of the entry. */
function readRoute(entry: unknown): Route | string {
  if (!isObject(entry)) return ` is not an object; write routes as ${EXAMPLE}`;
  const { match, queue, priority } = entry;
  const unknown = Object.keys(entry).find((key) => !ROUTE_KEYS.includes(key));
  if (unknown !== undefined) return ` has the unknown key ${unknown}; the known keys are ${ROUTE_KEYS.join(", ")}`;
  if (queue === undefined && priority === undefined) return " has neither a queue nor a priority; add one or both";
  if (queue !== undefined && !(typeof queue === "string" && QUEUE_NAME.test(queue))) {
    return `.queue takes letters, digits and _ . : - (at most 64 characters), not ${JSON.stringify(queue)}`;
  }
  if (priority !== undefined && !(Number.isInteger(priority) && Number(priority) >= 0 && Number(priority) <= 9)) {
    return `.priority takes a whole number from 0, most urgent, to 9, not ${JSON.stringify(priority)}`;
  }
  const read = readMatch(match);
  if (typeof read === "string") return `.match${read}`;
  return {
    match: read,
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
  };
}

function readMatch(match: unknown): RouteMatch | string {
  const known = MATCH_KEYS.join(", ");
  if (!isObject(match)) return ` takes an object with ${known}; {} matches everything`;
  const unknown = Object.keys(match).find((key) => !(MATCH_KEYS as string[]).includes(key));
  if (unknown !== undefined) return ` has the unknown key ${unknown}; the known keys are ${known}`;
  const read: RouteMatch = {};
  for (const key of MATCH_KEYS) {
    if (match[key] === undefined) continue;
    const patterns = Array.isArray(match[key]) ? match[key] : [match[key]];
    if (patterns.length === 0) return `.${key} is an empty list, which matches nothing; remove it`;
    for (const pattern of patterns) {
      if (typeof pattern !== "string") return `.${key} takes text or a list of texts, not ${JSON.stringify(pattern)}`;
      const problem = PATTERN_PROBLEM[key](pattern);
      if (problem !== undefined) return `.${key}: ${JSON.stringify(pattern)} ${problem}`;
    }
    read[key] = patterns;
  }
  return read;
}

function nameProblem(pattern: string): string | undefined {
  if (pattern.trim() === "") return "is empty";
  return pattern.length > 200 ? "is longer than 200 characters" : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
