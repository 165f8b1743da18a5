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

/** For `safeParse(input, { error: issueText })`. Undefined: the message of zod is used. */
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
 * Keeps one issue per problem. If a number exceeds several bounds, zod reports the narrowest one last, which is kept.
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
  const here = path.map(String).join(".");
  const all = keyPaths(schema, "");
  const similar = [...new Set(keys.flatMap((key) => similarKeys(key, here, all)))];
  return adviceText(similar, known);
}

/** `; did you mean politeness.rate? known keys: name, urls`. */
export function adviceText(similar: readonly string[], known: readonly string[]): string {
  const guess = similar.length === 0 ? "" : ` did you mean ${similar.slice(0, MAX_GUESSES).join(" or ")}?`;
  return `;${guess} known keys: ${known.join(", ")}`;
}

const MAX_GUESSES = 3;
/** The maximum number of keys in a suggested path, such as `politeness.sites`. */
const MAX_DEPTH = 3;

/**
 * The most similar keys, those in the same object first. A key of the same name in another object is the most similar.
 */
export function similarKeys(key: string, here: string, all: readonly string[]): string[] {
  const partOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf(".")));
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

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.ZodType | undefined = schema;
  for (const key of path) at = shapeOf(at)[String(key)];
  return Object.keys(shapeOf(at));
}

function keyPaths(schema: z.ZodType, prefix: string, depth = 1): string[] {
  if (depth > MAX_DEPTH) return [];
  return Object.entries(shapeOf(schema)).flatMap(([key, inner]) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    return [path, ...keyPaths(inner, path, depth + 1)];
  });
}

/** Empty for a schema without fixed keys. */
function shapeOf(schema: z.ZodType | undefined): Record<string, z.ZodType> {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return shapeOf(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
}
