/** Checks what a request brings against what its route takes. */
import type { z } from "zod";
import { TrawlError } from "../errors.ts";

/** What is wrong is named by where it is: `query.limit`, `body.urls.3`. Throws BAD_REQUEST. */
export function check<T extends z.ZodType>(
  schema: T | undefined,
  input: unknown,
  where: string,
): z.output<T> | undefined {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describe(issue, where));
  throw new TrawlError("BAD_REQUEST", { op: "api.check", message: problems.join("; "), detail: { problems } });
}

function describe(issue: z.core.$ZodIssue, where: string): string {
  const path = [where, ...issue.path.map(String)].join(".");
  if (issue.code === "unrecognized_keys") {
    // Where the schema has a word of its own on it, that helps more.
    const advice = issue.message.startsWith("Unrecognized key") ? "" : `; ${issue.message}`;
    return `${path}: unknown ${issue.keys.join(", ")}${advice}`;
  }
  return `${path}: ${issue.message}`;
}
