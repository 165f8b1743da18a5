/** What zod finds wrong with what somebody wrote, in plain words. What a schema says itself goes before these. */
import type { z } from "zod";
import { formatCount, plural } from "../domain/counted.ts";

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

/** For `safeParse(input, { error: plainWords })`; undefined where zod's own words will do. */
export function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type": {
      const takes = `takes ${KINDS[issue.expected] ?? issue.expected}`;
      return issue.input === undefined ? `is missing; it ${takes}` : takes;
    }
    case "invalid_value":
      return `takes ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_big":
      return bound(issue.origin, Number(issue.maximum), issue.inclusive === false ? "less than" : "at most");
    case "too_small":
      return bound(issue.origin, Number(issue.minimum), issue.inclusive === false ? "more than" : "at least");
    default:
      return undefined;
  }
}

/** One word for each thing that is wrong: a number past every bound is past the narrowest, which zod names last. */
export function eachOnce(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const byPlace = new Map(issues.map((issue) => [placeOf(issue), issue]));
  return [...byPlace.values()];
}

function placeOf({ code, path, message }: z.core.$ZodIssue): string {
  const isBound = code === "too_big" || code === "too_small";
  return JSON.stringify([path.map(String), code, isBound ? "" : message]);
}

function bound(origin: string, limit: number, words: string): string {
  if (limit === 1 && words === "at least" && origin !== "number") return "cannot be empty";
  if (origin === "string") return `takes ${words} ${plural(limit, "character")}`;
  if (origin === "array" || origin === "set") return `takes ${words} ${plural(limit, "entry", "entries")}`;
  return `takes ${words} ${formatCount(limit)}`;
}
