import { describe, expect, it } from "vitest";
import { z } from "zod";
import { eachOnce, plainWords } from "./plain-issue.ts";

const schema = z.object({
  pages: z.int().min(1).max(50_000),
  render: z.enum(["never", "always"]),
  name: z.string().min(1).max(3),
  urls: z.array(z.string()).max(1),
  rate: z.string({ error: 'takes a rate, such as "4/s"' }),
});
const good = { pages: 1, render: "never", name: "a", urls: [], rate: "4/s" };

describe("what zod finds wrong", () => {
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
  ])("is said once, in plain words, unless the schema has its own: %j", (wrong, words) => {
    const { error } = schema.safeParse({ ...good, ...wrong }, { error: plainWords });

    expect(eachOnce(error?.issues ?? []).map(({ message }) => message)).toEqual([words]);
  });
});
