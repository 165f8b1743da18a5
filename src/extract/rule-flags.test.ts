import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FIELD_TYPES, type Rule } from "../domain/extraction-rules.ts";
import { isTrawlError } from "../errors.ts";
import { parseRuleFlags } from "./rule-flags.ts";
import { rulesSchema } from "./rules.ts";

describe("rules from flags", () => {
  it.each<[string, string, Rule]>([
    ["title=h1", "title", "h1"],
    [" title = h1 ", "title", "h1"],
    ["price=.price_color|number", "price", { select: ".price_color", type: "number" }],
    ["price=.p|number!", "price", { select: ".p", type: "number", required: true }],
    ["price=.p | number !", "price", { select: ".p", type: "number", required: true }],
    ["price=.p!", "price", { select: ".p", required: true }],
    ["tags[]=.tag", "tags", [".tag"]],
    ["prices[]=.p|number!", "prices", { select: ".p", type: "number", required: true, list: true }],
    ["img=img@src", "img", "img@src"],
    ["img=img@src|url", "img", { select: "img@src", type: "url" }],
    ["name=jsonld:Product.name", "name", "jsonld:Product.name"],
    ["title=og:title", "title", "og:title"],
    ['x=a[href="x|y"]', "x", 'a[href="x|y"]'],
    ["x=a[href='x|number']", "x", "a[href='x|number']"],
    ['x=a[href="x|y"]|url', "x", { select: 'a[href="x|y"]', type: "url" }],
    ["x=a[href='?a=1&b=2']@title", "x", "a[href='?a=1&b=2']@title"],
    ["x=[lang|=en]", "x", "[lang|=en]"],
    ["x=[lang|=en]|text!", "x", { select: "[lang|=en]", type: "text", required: true }],
    ['x=[title="Buy!"]', "x", '[title="Buy!"]'],
    ["x=p:contains(now!)!", "x", { select: "p:contains(now!)", required: true }],
    ["list price=.p", "list price", ".p"],
    ["a.b-c=.p", "a.b-c", ".p"],
    ["sku=.id|match=/(\\d+)/", "sku", { select: ".id", match: "(\\d+)" }],
    ["sku=.id|match=/a|b/|text", "sku", { select: ".id", match: "a|b", type: "text" }],
    [
      "price=.p|number|match=/(\\d+)/|default=0",
      "price",
      { select: ".p", type: "number", match: "(\\d+)", default: 0 },
    ],
    ["price=.p|default=-1.5|number", "price", { select: ".p", type: "number", default: -1.5 }],
    ["stock=.s|boolean|default=true", "stock", { select: ".s", type: "boolean", default: true }],
    ["by=.author|default=not given", "by", { select: ".author", default: "not given" }],
    ["by=.author|default=", "by", { select: ".author", default: "" }],
    ["tags[]=.tag|default=none", "tags", { select: ".tag", default: ["none"], list: true }],
    ["about=.about|multiline!", "about", { select: ".about", type: "multiline", required: true }],
    ["x=:is(:not(a), b)|text", "x", { select: ":is(:not(a), b)", type: "text" }],
    ["x=p:contains(it's)|text", "x", { select: "p:contains(it's)", type: "text" }],
    ['x=a[href="x|default=3"]', "x", 'a[href="x|default=3"]'],
    ["x=a[href='|match=/a/']|url", "x", { select: "a[href='|match=/a/']", type: "url" }],
    ["$each=.product > a[href='=']", "$each", ".product > a[href='=']"],
  ])("%s", (flag, name, rule) => {
    const extra = name === "$each" ? ["other=b"] : [];
    expect(parseRuleFlags([flag, ...extra]).rules[name]).toEqual(rule);
  });

  it("are the same as rules in JSON", () => {
    const { rules } = parseRuleFlags(["$each=.product", "title=h2", "tags[]=.tag", "price=.price|number!"]);
    expect(rulesSchema.parse(rules)).toEqual(rules);
  });

  it.each<[string[], RegExp]>([
    [["title"], /-e "title": it has no "="; write -e name=selector/],
    [["=h1"], /-e "=h1": a field's name cannot be empty/],
    [["[]=h1"], /name cannot be empty/],
    [["title="], /it has no selector/],
    [["title=|number"], /it has no selector/],
    [["$each="], /it has no selector/],
    [["price=.p|nubmer"], /"nubmer" is not a type; use one of text, multiline, number/],
    [["price=.p|"], /"" is not a type/],
    [["x=a|match=/(/"], /\/\(\/ is not a regular expression/],
    [["x=a|match=//"], /is not a regular expression/],
    [["x=a|match=/a/i"], /regular expressions take no flags/],
    [["x=a|default=1|default=2"], /two modifiers "default"/],
    [["x=a|text|url"], /two modifiers "type"/],
    [["x=a|default=1!"], /"!" and "default" contradict each other/],
    [["x=a|number|default=one"], /the default "one" is not of type number/],
    [["x=a|integer|default=1.5"], /is not of type integer/],
    [["x=a|boolean|default=maybe"], /is not of type boolean/],
    [["_url=a"], /begin with "_"/],
    [["__proto__=a"], /begin with "_"/],
    [["a=b", "a=c"], /-e "a=c": there are two rules for "a"/],
    [["$each=.p"], /there is no field/],
  ])("%j is refused with BAD_JOB", (flags, message) => {
    expect(refusal(flags)).toMatchObject({ code: "BAD_JOB", message: expect.stringMatching(message) });
  });

  it.each([["x=a["], ["x[]=p:nosuch|number"], ["x=jsonld:"], ["x=.a@href@"]])(
    "%s is refused because of its selector",
    (flag) => {
      expect(refusal([flag])).toMatchObject({
        code: "BAD_SELECTOR",
        message: expect.stringContaining(`-e ${JSON.stringify(flag)}`),
      });
    },
  );

  it("an invalid selector in $each is refused", () => {
    expect(refusal(["$each=a[", "b=c"])).toMatchObject({ code: "BAD_SELECTOR" });
  });

  it("may have any selector with = and | inside quotes, with or without a type", () => {
    const value = fc.string({ unit: fc.constantFrom(..."ab=|!@[]>, ", "|match=/a/", "|default=1") });
    fc.assert(
      fc.property(
        value,
        fc.option(fc.constantFrom(...FIELD_TYPES), { nil: undefined }),
        fc.boolean(),
        (text, type, required) => {
          const select = `a[href="${text}"]`;
          const flag = `x=${select}${type === undefined ? "" : `|${type}`}${required ? "!" : ""}`;
          const { rules } = parseRuleFlags([flag]);
          const expected = { select, ...(type && { type }), ...(required && { required }) };
          expect(rules.x).toEqual(Object.keys(expected).length === 1 ? select : expected);
        },
      ),
    );
  });
});

function refusal(flags: readonly string[]) {
  try {
    parseRuleFlags(flags);
  } catch (error) {
    if (isTrawlError(error)) return error;
  }
  return undefined;
}
