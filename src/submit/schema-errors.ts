/** Turns schema errors of zod into messages for users. A message that a schema defines itself is used as it is. */
import { z } from "zod";
import { editDistance } from "../domain/edit-distance.ts";
import { formatCount, plural } from "../domain/format-number.ts";

const KINDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
};

/** The message for an issue, used as `safeParse(input, { error: issueText })`. Undefined: zod's own message is used. */
export function issueText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type": {
      const takes = `takes ${KINDS[issue.expected] ?? issue.expected}`;
      return issue.input === undefined ? `is missing; it ${takes}` : takes;
    }
    case "invalid_value":
      return `takes ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_big":
      return boundText(issue.origin, Number(issue.maximum), issue.inclusive === false ? "less than" : "at most");
    case "too_small":
      return boundText(issue.origin, Number(issue.minimum), issue.inclusive === false ? "more than" : "at least");
    default:
      return undefined;
  }
}

function boundText(origin: string, limit: number, relation: string): string {
  if (limit === 1 && relation === "at least" && origin !== "number") return "cannot be empty";
  if (origin === "string") return `takes ${relation} ${plural(limit, "character")}`;
  if (origin === "array" || origin === "set") return `takes ${relation} ${plural(limit, "entry", "entries")}`;
  return `takes ${relation} ${formatCount(limit)}`;
}

/**
 * Keeps one issue per problem. If a number exceeds several bounds, zod reports the narrowest one last; it is kept.
 */
export function uniqueIssues(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const byPosition = new Map(issues.map((issue) => [positionOf(issue), issue]));
  return [...byPosition.values()];
}

function positionOf({ code, path, message }: z.core.$ZodIssue): string {
  const isBound = code === "too_big" || code === "too_small";
  return JSON.stringify([path.map(String), code, isBound ? "" : message]);
}

/**
 * The advice for unknown keys in an object of a schema: similar keys, and keys of the same name in other parts of the
 * schema, followed by all known keys. Empty if the path does not lead to an object with fixed keys.
 */
export function unknownKeysAdvice(schema: z.ZodType, path: readonly PropertyKey[], keys: readonly string[]): string {
  const known = keysAt(schema, path);
  if (known.length === 0) return "";
  return adviceText(keys, path.map(String).join("."), { known, all: keyPaths(schema) });
}

/**
 * Advice such as `; rate: did you mean politeness.rate? known keys: name, urls`. `all`: the paths of all keys. `known`:
 * the keys of the object at the path `here`.
 */
export function adviceText(
  keys: readonly string[],
  here: string,
  { known, all }: { known: readonly string[]; all: readonly string[] },
): string {
  const guesses = keys.flatMap((key) => {
    const similar = similarKeys(key, here, all).slice(0, MAX_GUESSES);
    return similar.length === 0 ? [] : [` ${key}: did you mean ${similar.join(" or ")}?`];
  });
  return `;${guesses.join("")} known keys: ${known.join(", ")}`;
}

const MAX_GUESSES = 3;
/** The maximum number of keys in a suggested path, such as `politeness.sites`. */
const MAX_DEPTH = 3;

/** Names that users try instead of a key, in lower case, and the keys they mean in a job or in a spider. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  url: ["urls", "start"],
  urls: ["start"],
  start: ["urls"],
  depth: ["follow.maxDepth"],
  maxpages: ["limits.pages"],
  maxretries: ["retries.max"],
};

/**
 * The most similar keys of all objects. If some of them are in the same object as the unknown key, only those are
 * returned. A key of the same name in another object is the most similar.
 */
function similarKeys(key: string, here: string, all: readonly string[]): string[] {
  const meant = synonymOf(key, here, all);
  if (meant !== undefined) return [meant];
  const distanceTo = (path: string) => {
    const name = path.slice(path.lastIndexOf(".") + 1);
    return editDistance(name.toLowerCase(), key.toLowerCase());
  };
  const max = Math.min(2, Math.ceil(key.length / 3));
  const least = Math.min(...all.map(distanceTo));
  if (least > max) return [];
  const nearest = all.filter((path) => distanceTo(path) === least);
  const near = nearest.filter((path) => partOf(path) === here);
  return near.length > 0 ? near : nearest;
}

/** The key that a name of SYNONYMS means. Below the top level, only a key inside the same object is returned. */
function synonymOf(key: string, here: string, all: readonly string[]): string | undefined {
  const meanings = Object.hasOwn(SYNONYMS, key.toLowerCase()) ? (SYNONYMS[key.toLowerCase()] ?? []) : [];
  const inside = here === "" ? meanings : meanings.map((path) => `${here}.${path}`);
  const beside = meanings.filter((path) => partOf(path) === here);
  return [...inside, ...beside].find((path) => all.includes(path));
}

function partOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.ZodType | undefined = schema;
  for (const key of path) at = shapeOf(at)[String(key)];
  return Object.keys(shapeOf(at));
}

/** The paths of the keys of a schema, such as `politeness` and `politeness.rate`. */
export function keyPaths(schema: z.ZodType, prefix = "", depth = 1): string[] {
  if (depth > MAX_DEPTH) return [];
  return Object.entries(shapeOf(schema)).flatMap(([key, inner]) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    return [path, ...keyPaths(inner, path, depth + 1)];
  });
}

/** The keys of a schema with their schemas. Empty for a schema without fixed keys. */
function shapeOf(schema: z.ZodType | undefined): Record<string, z.ZodType> {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return shapeOf(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
}
