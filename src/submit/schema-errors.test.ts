import { describe, expect, it } from "vitest";
import { z } from "zod";
import { jobSchema } from "./job-schema.ts";
import { issueText, uniqueIssues, unknownKeysAdvice } from "./schema-errors.ts";

const schema = z.object({
  pages: z.int().min(1).max(50_000),
  render: z.enum(["never", "always"]),
  name: z.string().min(1).max(3),
  urls: z.array(z.string()).max(1),
  rate: z.string({ error: 'takes a rate, such as "4/s"' }),
});
const good = { pages: 1, render: "never", name: "a", urls: [], rate: "4/s" };

describe("schema errors", () => {
  it.each<[Partial<Record<keyof typeof good, unknown>>, string]>([
    [{ pages: 1e300 }, "takes at most 50,000"],
    [{ pages: 0 }, "takes at least 1"],
    [{ pages: 1.5 }, "takes a whole number"],
    [{ pages: undefined }, "is missing; it takes a number"],
    [{ render: "now" }, "takes one of never, always"],
    [{ name: "" }, "cannot be empty"],
    [{ name: "abcd" }, "takes at most 3 characters"],
    [{ urls: ["a", "b"] }, "takes at most 1 entry"],
    [{ urls: "a" }, "takes a list"],
    [{ rate: 4 }, 'takes a rate, such as "4/s"'],
  ])("have one message per problem, that of the schema if it defines one: %j", (wrong, message) => {
    const { error } = schema.safeParse({ ...good, ...wrong }, { error: issueText });

    expect(uniqueIssues(error?.issues ?? []).map((issue) => issue.message)).toEqual([message]);
  });
});

describe("an unknown key of a job", () => {
  it.each<[readonly string[], string, string]>([
    [[], "rate", "; rate: did you mean politeness.rate? known keys: name, urls"],
    [[], "pages", "; pages: did you mean limits.pages or keep.pages? known keys: name"],
    [[], "urlz", "; urlz: did you mean urls? known keys: name"],
    [[], "url", "; url: did you mean urls? known keys: name"],
    [[], "start", "; start: did you mean urls? known keys: name"],
    [[], "maxPages", "; maxPages: did you mean limits.pages? known keys: name"],
    [[], "maxRetries", "; maxRetries: did you mean retries.max? known keys: name"],
    [[], "depth", "; depth: did you mean follow.maxDepth? known keys: name"],
    [[], "Follow", "; Follow: did you mean follow? known keys: name"],
    [["follow"], "maxdepht", "; maxdepht: did you mean follow.maxDepth? known keys: links"],
    [["follow"], "depth", "; depth: did you mean follow.maxDepth? known keys: links"],
    [["limits"], "maxDepth", "; maxDepth: did you mean follow.maxDepth? known keys: pages"],
    [["webhook"], "Url", "; Url: did you mean webhook.url? known keys: url"],
    [[], "wibble", "; known keys: name, urls"],
  ])("in %j: %s", (path, key, advice) => {
    expect(unknownKeysAdvice(jobSchema, path, [key]).slice(0, advice.length)).toBe(advice);
  });

  it("is named in each hint", () => {
    const hints = "; rate: did you mean politeness.rate? maxPages: did you mean limits.pages? known keys: ";
    expect(unknownKeysAdvice(jobSchema, [], ["rate", "wibble", "maxPages"])).toContain(hints);
  });

  it("in the job of a schedule gets hints of that job", () => {
    const schedule = z.strictObject({ job: jobSchema });
    expect(unknownKeysAdvice(schedule, ["job"], ["maxPages"])).toContain("maxPages: did you mean job.limits.pages?");
  });
});
