import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FIELD_TYPES, type Rules } from "../domain/extraction-rules.ts";
import type { Page } from "../domain/page.ts";
import { compileRules } from "./compile-rules.ts";
import { parseRuleFlags } from "./rule-flags.ts";
import { rulesSchema } from "./rules.ts";

/** One set of rules in docs/extraction.md, with the page before it and the results after it. */
type Example = {
  heading: string;
  html: string;
  flags: string[] | undefined;
  rules: Rules;
  records: unknown[];
  invalid: unknown[];
};

const MANUAL = readFileSync(new URL("../../docs/extraction.md", import.meta.url), "utf8");
const examples = readExamples(MANUAL);

describe("docs/extraction.md", () => {
  it("has examples, most of them also as flags", () => {
    expect(examples.length).toBeGreaterThanOrEqual(9);
    expect(examples.filter(({ flags }) => flags !== undefined).length).toBeGreaterThanOrEqual(7);
  });

  it.each(examples.map((example) => [example.heading, example] as const))(
    "%s: the rules yield the result shown",
    (_heading, example) => {
      const { records, invalid } = extract(rulesSchema.parse(example.rules), example.html);
      expect(records).toEqual(example.records);
      expect(invalid).toEqual(example.invalid);
    },
  );

  it.each(examples.filter(({ flags }) => flags !== undefined).map((example) => [example.heading, example] as const))(
    "%s: the flags yield the same result",
    (_heading, { flags = [], html, rules }) => {
      expect(extract(parseRuleFlags(flags).rules, html)).toEqual(extract(rules, html));
      expect(Object.keys(parseRuleFlags(flags).rules)).toEqual(Object.keys(rules));
    },
  );

  it("lists every type in its table", () => {
    for (const type of FIELD_TYPES) expect(MANUAL).toContain(`\n| \`${type}\` |`);
  });
});

function readExamples(markdown: string): Example[] {
  const found: Example[] = [];
  let heading = "";
  let html = "";
  let flags: string[] | undefined;
  for (const [, title, language, body = ""] of markdown.matchAll(/^## (.*)$|^```(.+)\n([\s\S]*?)^```$/gm)) {
    const last = found.at(-1);
    if (title !== undefined) heading = title;
    else if (language === "html") html = body;
    else if (language === "flags") flags = body.trim().split("\n").map(unquoted);
    else if (language === "json rules") {
      found.push({ heading, html, flags, rules: JSON.parse(body), records: [], invalid: [] });
      flags = undefined;
    } else if (language === "json result") last?.records.push(...[JSON.parse(body)].flat());
    else if (language === "json invalid") last?.invalid.push(JSON.parse(body));
    else throw new Error(`a block of an unknown kind in docs/extraction.md: ${language}`);
  }
  return found;
}

/** Removes the quotes of `-e '…'`, as a shell does. */
function unquoted(line: string): string {
  const word = /^-e (?:'([^']*)'|([^\s'"$&|<>()[\]*?!]+))$/.exec(line);
  if (word === null) throw new Error(`a shell would not parse this as one flag: ${line}`);
  return word[1] ?? word[2] ?? "";
}

function extract(rules: Rules, html: string) {
  return compileRules(rules, { links: undefined, parser: "fast" })({ page: KETTLE, html });
}

const KETTLE: Page = {
  url: "https://shop.example/kettle",
  contentType: "text/html",
  status: 200,
  headers: {},
  bodyBytes: 0,
  fetchedAt: 0,
  tookMs: 0,
};
