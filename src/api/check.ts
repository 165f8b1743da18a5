/** Checks what a request brings against what its route takes. */
import type { z } from "zod";
import { TrawlError } from "../errors.ts";
import { knownKeys } from "../submit/known-keys.ts";
import { eachOnce, plainWords } from "../submit/plain-issue.ts";

/** What is wrong is named by where it is: `query.limit`, `body.urls.3`. Throws BAD_REQUEST. */
export function check<T extends z.ZodType>(
  schema: T | undefined,
  input: unknown,
  where: string,
): z.output<T> | undefined {
  if (schema === undefined) return undefined;
  if (input === undefined && where === "body") throw missing();
  const parsed = schema.safeParse(input, { error: plainWords });
  if (parsed.success) return parsed.data;
  const problems = eachOnce(parsed.error.issues).map((issue) => describe(issue, where, schema));
  throw new TrawlError("BAD_REQUEST", { op: "api.check", message: problems.join("; "), detail: { problems } });
}

function missing(): TrawlError {
  return new TrawlError("BAD_REQUEST", { op: "api.check", message: "body: is missing; send it as application/json" });
}

function describe(issue: z.core.$ZodIssue, where: string, schema: z.ZodType): string {
  const path = [where, ...issue.path.map(String)].join(".");
  if (issue.code === "unrecognized_keys") {
    // Where the schema has a word of its own on it, that helps more.
    const known = knownKeys(schema, issue.path);
    const advice = issue.message.startsWith("Unrecognized key") ? known && `known are ${known}` : issue.message;
    return `${path}: unknown ${issue.keys.join(", ")}${advice && `; ${advice}`}`;
  }
  return `${path}: ${issue.message}`;
}
