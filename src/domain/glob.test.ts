import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGlobs, globProblem, MAX_GLOB_ALTERNATIVES, MAX_GLOB_LENGTH } from "./glob.ts";

describe("compileGlobs", () => {
  it.each([
    // The path of any host.
    ["/catalogue/**", "https://a.test/catalogue/x/y", true],
    ["/catalogue/**", "http://b.test:8080/catalogue/", true],
    ["/catalogue/**", "https://a.test/old/catalogue/x", false],
    ["/catalogue/**", "https://a.test/catalogue", false],
    ["/", "https://a.test/", true],
    ["/", "https://a.test/x", false],
    // Anywhere.
    ["**/catalogue/**", "https://a.test/old/catalogue/x", true],
    ["**/catalogue/**", "https://a.test/catalogues/x", false],
    ["**sort=**", "https://a.test/x?a=1&sort=up", true],
    ["**", "https://a.test/", true],
    // Whole URLs.
    ["https://a.test/x/*", "https://a.test/x/y", true],
    ["https://a.test/x/*", "https://a.test/x/", true],
    ["https://a.test/x/*", "https://a.test/x/y/z", false],
    ["https://a.test/x/*", "http://a.test/x/y", false],
    ["https://a.test/x/*", "https://b.test/?u=https://a.test/x/y", false],
    ["http{,s}://a.test/**", "https://a.test/x", true],
    ["*://a.test/**", "http://a.test/x", true],
    ["https://*.a.test/**", "https://www.a.test/x", true],
    ["https://*.a.test/**", "https://a.test/x", false],
    ["HTTPS://A.Test:443/x", "https://a.test/x", true],
    ["https://a.test", "https://a.test/", true],
    ["https://a.test", "https://a.test/x", false],
    ["https://bücher.test/**", "https://xn--bcher-kva.test/x", true],
    // From any slash on.
    ["*.pdf", "https://a.test/x/y.pdf", true],
    ["*.pdf", "https://a.test/x/y.pdf.html", false],
    ["a.test/x/**", "https://a.test/x/y", true],
    ["a.test/x/**", "https://ba.test/x/y", false],
    // No folder, or any number of them.
    ["/a/**/b", "https://a.test/a/b", true],
    ["/a/**/b", "https://a.test/a/x/y/b", true],
    ["/a/**/b", "https://a.test/a/xb", false],
    // The query.
    ["/x/*", "https://a.test/x/y?page=2", true],
    ["/x/*", "https://a.test/x/y?u=/z/", true],
    ["*.pdf", "https://a.test/y.pdf?download", true],
    ["/x?page=*", "https://a.test/x?page=2&u=/y", true],
    ["/x?page=*", "https://a.test/x", false],
    ["/x?", "https://a.test/xy", false],
    ["?page=*", "https://a.test/x/y?page=2", true],
    ["**?**", "https://a.test/x/y?page=2", true],
    ["**?**", "https://a.test/x/y", false],
    // Alternatives.
    ["/{a,b{1,2}}/*", "https://a.test/a/x", true],
    ["/{a,b{1,2}}/*", "https://a.test/b2/x", true],
    ["/{a,b{1,2}}/*", "https://a.test/b/x", false],
    ["**/*.{jpg,png}", "https://a.test/x.png", true],
    // Spelling.
    ["/straße/*", "https://a.test/stra%C3%9Fe/x", true],
    ["/%7ejoe/%c3%9f", "https://a.test/~joe/%C3%9F", true],
    [" /x ", "https://a.test/x", true],
    ["/a.b", "https://a.test/axb", false],
    ["/a+(b)", "https://a.test/a+(b)", true],
  ])("compares %j with %s: %j", (glob, url, isMatch) => {
    expect(globProblem(glob)).toBeUndefined();
    expect(compileGlobs([glob])(url)).toBe(isMatch);
  });

  it("matches if one of its globs matches, and never without globs", () => {
    const matches = compileGlobs(["/a/*", "/b/*"]);
    expect(["/a/x", "/b/x", "/c/x"].map((path) => matches(`https://a.test${path}`))).toEqual([true, true, false]);
    expect(compileGlobs([])("https://a.test/")).toBe(false);
  });

  it("agrees with a regular expression for every glob", () => {
    const glob = fc.string({
      unit: fc.constantFrom("a", "b", "/", "/", "*", "*", "**", "/**/", "?", "{a,*}"),
      minLength: 1,
      maxLength: 8,
    });
    const path = fc.string({ unit: fc.constantFrom("a", "b", "/", "?"), maxLength: 10 });
    fc.assert(
      fc.property(glob, path, (rest, target) => {
        const url = `https://h.test/${target}`;
        for (const whole of [`/${rest}`, `**${rest}`, `https://h.test/${rest}`]) {
          expect(compileGlobs([whole])(url), whole).toBe(naivelyMatches(whole, url));
        }
      }),
      { numRuns: 5000 },
    );
  });

  it("never throws, and an invalid glob matches nothing", () => {
    const unit = fc.oneof(
      fc.constantFrom("*", "**", "{", "}", ",", "/", "?", "%", "[", "://", "https://"),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(
        fc.array(unit).map((parts) => parts.join("")),
        fc.webUrl(),
        (glob, url) => {
          const isMatch = compileGlobs([glob])(url);
          if (globProblem(glob) !== undefined) expect(isMatch).toBe(false);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("takes bounded time on globs that provoke backtracking", () => {
    const url = `https://a.test/${"a".repeat(4000)}`;
    expect(compileGlobs([`/${"a*".repeat(1000)}b`])(url)).toBe(false);
    expect(compileGlobs([`/${"a**".repeat(1000)}b`])(url)).toBe(false);
    expect(compileGlobs([`/${"**/a".repeat(1000)}b`])(url)).toBe(false);
    expect(compileGlobs([`/${"a**".repeat(1000)}`])(url)).toBe(true);
  });
});

describe("globProblem", () => {
  it.each([
    ["", /empty/],
    ["  ", /empty/],
    ["a".repeat(MAX_GLOB_LENGTH + 1), /longer than 4096/],
    ["!/a/*", /negate/],
    ["/a#b", /fragment/],
    ["/a\\*", /escape character/],
    ["/[ab]", /%5B/],
    ["/{a,b", /unpaired/],
    ["/a}b{", /unpaired/],
    ["{a,b}".repeat(9), new RegExp(`more than ${MAX_GLOB_ALTERNATIVES}`)],
    ["ftp://a.test/*", /ftp URLs/],
    ["{https,file}://a.test/*", /file URLs/],
  ])("describes the problem of %j", (glob, message) => {
    expect(globProblem(glob)).toMatch(message);
    expect(compileGlobs([glob])("https://a.test/")).toBe(false);
  });

  it("accepts the maximum number of alternatives", () => {
    expect(globProblem("{a,b}".repeat(8))).toBeUndefined();
  });
});

/** The meaning of a glob as a regular expression, which may backtrack. The only braces are `{a,*}`. */
function naivelyMatches(glob: string, url: string): boolean {
  const brace = glob.indexOf("{a,*}");
  if (brace >= 0) {
    return ["a", "*"].some((choice) => naivelyMatches(glob.slice(0, brace) + choice + glob.slice(brace + 5), url));
  }
  const source = glob.replace(/(?<=^|\/)\*\*\/|\*+|\?|[.:]/g, (found, at: number) => {
    if (found === "**/") return "(?:.*/)?";
    if (found.startsWith("*")) return found === "*" && !glob.slice(0, at).includes("?") ? "[^/?]*" : ".*";
    return `\\${found}`;
  });
  const whole = new RegExp(`${glob.startsWith("/") ? "^https://h\\.test" : "^"}${source}$`);
  return whole.test(url) || (!glob.includes("?") && whole.test(url.replace(/\?.*/, "")));
}
