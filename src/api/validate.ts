/** Validates the parts of a request against the schemas of its route. */
import type { z } from "zod";
import { TrawlError } from "../errors.ts";
import { issueText, uniqueIssues, unknownKeysAdvice } from "../submit/schema-errors.ts";

/** Throws BAD_REQUEST. The message contains the position of each problem, such as `query.limit` or `body.urls.3`. */
export function validate<T extends z.ZodType>(
  schema: T | undefined,
  input: unknown,
  part: "path" | "query" | "body",
): z.output<T> | undefined {
  if (schema === undefined) return undefined;
  if (input === undefined && part === "body") throw bodyMissing();
  const parsed = schema.safeParse(input, { error: issueText });
  if (parsed.success) return parsed.data;
  const problems = uniqueIssues(parsed.error.issues).map((issue) => describe(issue, part, schema));
  throw new TrawlError("BAD_REQUEST", { op: "api.validate", message: problems.join("; "), detail: { problems } });
}

function bodyMissing(): TrawlError {
  return new TrawlError("BAD_REQUEST", {
    op: "api.validate",
    message: "body: is missing; send it as application/json",
  });
}

function describe(issue: z.core.$ZodIssue, part: string, schema: z.ZodType): string {
  const path = [part, ...issue.path.map(String)].join(".");
  if (issue.code !== "unrecognized_keys") return `${path}: ${issue.message}`;
  const hasOwnMessage = !issue.message.startsWith("Unrecognized key");
  const advice = hasOwnMessage ? `; ${issue.message}` : unknownKeysAdvice(schema, issue.path, issue.keys);
  return `${path}: unknown ${issue.keys.join(", ")}${advice}`;
}
