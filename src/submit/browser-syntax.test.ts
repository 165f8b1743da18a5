import { describe, expect, it } from "vitest";
import { expressionProblem, keyProblem, selectorProblem } from "./browser-syntax.ts";
import { parseJob } from "./resolve-job.ts";

describe("selectors for a browser", () => {
  it.each([
    ".price",
    "> a",
    "a, b",
    "#list > li:nth-child(2n+1)",
    'button:has-text("More :-) (all")',
    "article:has(> h1):visible",
    ':nth-match(:text("Buy (1)"), 3)',
    "input:right-of(:text('Name'), 50)",
    '[data-x="a]b"]',
    ".md\\:flex",
    "text=it's here",
    'text="More"',
    "'Load more'",
    "//a[@href='x']",
    "(//a)[2]",
    "..",
    "xpath=//a[.='x >> y']",
    "css=.a >> text=more >> nth=0",
    "*css=.a >> b",
    'role=button[name="OK"]',
    "data-testid=x",
    'internal:role=button[name="OK"i]',
    "größe",
  ])("may be %s", (selector) => {
    expect(selectorProblem(selector)).toBeUndefined();
  });

  it.each([
    ":::",
    "",
    "  ",
    "a[",
    "a[href",
    "a:has(b",
    ".",
    "#",
    "a >",
    "a,",
    "a >> ",
    "a >> ::",
    "css=[[",
    "foo=bar",
    "{x}",
  ])("may not be %j", (selector) => {
    expect(selectorProblem(selector)).toContain(JSON.stringify(selector));
  });
});

describe("keys", () => {
  it.each([
    "Enter",
    "a",
    "A",
    "+",
    "Control+A",
    "Control++",
    "Shift+Control+ArrowDown",
    "ControlOrMeta+c",
    "F12",
    " ",
    "Numpad0",
  ])("may be %s", (key) => {
    expect(keyProblem(key)).toBeUndefined();
  });

  it.each(["Entr", "enter", "Return", "Ctrl+A", "Control+", "Control+Down", "F13", "é", "hello"])(
    "may not be %s",
    (key) => {
      expect(keyProblem(key)).toContain(JSON.stringify(key));
    },
  );
});

describe("expressions", () => {
  it.each([
    "window.ready",
    "() => document.images.length > 3",
    "async () => 1",
    "function () { return true; }",
    "({ a: 1 }).a",
  ])("may be %s", (source) => {
    expect(expressionProblem(source)).toBeUndefined();
  });

  it.each(["() => {", "return true", "a b", "if (x) y"])("may not be %s", (source) => {
    expect(expressionProblem(source)).toContain(`, not ${JSON.stringify(source)}: `);
  });

  it("are parsed and never run", () => {
    expect(expressionProblem("(() => { throw new Error('run'); })()")).toBeUndefined();
  });
});

describe("a job with invalid selectors, keys and expressions for the browser", () => {
  it("is refused with the path and the value of each", () => {
    const browser = {
      waitFor: { selector: ":::" },
      actions: [{ click: "a[" }, { press: "Entr" }, { wait: { selector: "." } }, { fill: "#q", with: "{[" }],
    };
    expect(() => parseJob({ urls: ["https://a.test/"], render: "always", browser })).toThrow(
      /browser\.waitFor\.selector.*":::".*actions\.0\.click.*"a\[".*actions\.1\.press.*"Entr".*actions\.2\.wait\.selector.*"\."/s,
    );
    expect(() => parseJob({ browser: { waitFor: { function: "() => {" } } })).toThrow(/browser\.waitFor\.function/);
  });
});
