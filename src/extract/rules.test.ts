import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Rule } from "../domain/extraction-rules.ts";
import { DEEPEST_FIELDS, rulesSchema } from "./rules.ts";

describe("rules in a job", () => {
  it.each<[string, unknown]>([
    ["a selector", { title: "h1" }],
    ["a list", { tags: ["a.tag"] }],
    ["a spelled-out field", { price: { select: ".price", type: "number", required: true } }],
    ["a spelled-out list", { prices: [{ select: ".price", type: "number" }] }],
    ["match and default", { sku: { select: ".sku", match: "(\\d+)", default: null } }],
    [
      "objects",
      { offers: { select: ".offer", list: true, fields: { name: ".n", price: { select: ".p", type: "number" } } } },
    ],
    ["many records", { $each: ".product", name: "h2" }],
  ])("may have %s", (_form, rules) => {
    expect(rulesSchema.parse(rules)).toEqual(rules);
  });

  it.each<[unknown, string, RegExp]>([
    [{ a: 5 }, "a", /must be a selector, \{ "select": … \}, or one of these in brackets/],
    [{ a: "" }, "a", /a selector cannot be empty/],
    [{ a: { selct: "b" } }, "a", /select: .*; Unrecognized key: "selct"/],
    [{ a: { select: "b", type: "float" } }, "a", /type: .*"number"/],
    [{ a: [] }, "a", /array/],
    [{ a: ["b", "c"] }, "a", /<=1/],
    [{ a: [["b"]] }, "a", /must be a selector/],
    [{ a: { select: "b", match: "(" } }, "a.match", /must be a regular expression/],
    [{ a: { select: "b", required: true, default: 1 } }, "a", /contradict/],
    [{ a: { select: "b", type: "number", fields: { c: "d" } } }, "a", /"fields" makes an object/],
    [{ a: { select: "b", fields: { c: { select: 7 } } } }, "a", /fields\.c: select: /],
    [{ _url: "b" }, "_url", /begin with "_" or "\$"/],
    [{ $all: "b" }, "$all", /begin with "_" or "\$"/],
    [{ " a": "b" }, " a", /begin or end with a space/],
    [{ a: { select: "b", fields: { $each: "c" } } }, "a.fields.$each", /begin with "_" or "\$"/],
    [{ $each: [".p"], a: "b" }, "$each", /must be a selector/],
    [{ $each: ".p" }, "", /at least one field/],
    [{}, "", /at least one field/],
    ["h1", "", /record/],
  ])("are refused as %j, with the path and the problem", (rules, path, message) => {
    const { error } = rulesSchema.safeParse(rules);
    expect(error?.issues.map((issue) => `${issue.path.join(".")}|${issue.message}`).join("\n")).toMatch(
      new RegExp(`^${path.replace("$", "\\$")}\\|.*${message.source}`),
    );
  });

  it("are refused if they nest too deep to be compiled", () => {
    expect(rulesSchema.safeParse({ a: nested(DEEPEST_FIELDS - 1) }).success).toBe(true);
    expect(rulesSchema.safeParse({ a: nested(DEEPEST_FIELDS) }).error?.issues[0]?.message).toContain(
      "nest at most 5 deep",
    );
    expect(rulesSchema.safeParse({ a: nested(50_000) }).success).toBe(false);
  });

  it("can be converted to JSON Schema, for the API", () => {
    expect(z.toJSONSchema(rulesSchema, { io: "input" })).toMatchObject({ type: "object" });
  });
});

function nested(depth: number): Rule {
  let rule: Rule = "b";
  for (let level = 0; level < depth; level++) rule = { select: "div", fields: { inner: rule } };
  return rule;
}
