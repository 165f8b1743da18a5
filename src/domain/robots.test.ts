import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalUrl } from "./canonical-url.ts";
import {
  crawlDelaySeconds,
  isAllowed,
  MAX_ROBOTS_LENGTH,
  parseRobots,
  pathAndQueryOf,
  rulesFor,
  sitemapsOf,
} from "./robots.ts";

const corpus = new URL("../../../shared/corpora/google-robots/google_robots_cases.json", import.meta.url);
const hasCorpus = existsSync(corpus);
if (!hasCorpus) console.warn("robots: ../shared/corpora/google-robots is absent, its cases are skipped");

describe("robots rules on Google's cases", () => {
  it.skipIf(!hasCorpus)("agree with Google's matcher in every case", () => {
    type Case = { test: string; robotstxt: string; agent: string; url: string; allowed: boolean };
    const cases = JSON.parse(readFileSync(corpus, "utf8")) as Case[];
    expect(cases).toHaveLength(142);
    const wrong = cases.filter((one) => isAllowed(parseRobots(one.robotstxt), one.agent, one.url) !== one.allowed);
    expect(wrong).toEqual([]);
  });
});

describe("the rules for a crawler", () => {
  it("merges all groups that name it, and ignores those for others", () => {
    const rules =
      "user-agent: a\ndisallow: /1\nuser-agent: b\ndisallow: /2\nuser-agent: A\nuser-agent: c\ndisallow: /3";
    expect(verdicts(rules, "a", ["/1", "/2", "/3", "/4"])).toEqual([false, true, false, true]);
    expect(verdicts(rules, "c", ["/1", "/2", "/3", "/4"])).toEqual([true, true, false, true]);
  });

  it("uses the rules for * only if no group names it; a group without rules counts", () => {
    const rules = "user-agent: *\ndisallow: /\nuser-agent: a\ndisallow:";
    expect(verdicts(rules, "a", ["/x"])).toEqual([true]);
    expect(verdicts(rules, "b", ["/x"])).toEqual([false]);
  });

  it.each([
    ["FooBot/1.0", "foobot", false],
    ["FooBot/1.0 (+https://foo.test)", "FooBot", false],
    ["foobot", "FooBot/2.0", false],
    ["FooBot-News", "foobot", true],
    ["Foo2Bot", "foo2bot", false],
    ["* and all others", "foobot", false],
    ["*bot", "foobot", true],
    ["", "foobot", true],
  ])("with the agent line %j, allow the crawler %j: %j", (line, token, allowed) => {
    expect(verdicts(`user-agent: ${line}\ndisallow: /`, token, ["/x"])).toEqual([allowed]);
  });

  it.each(["user-agent: *", "useragent: *", "User Agent: *", "USER-AGENT : *", "user-agent *"])(
    "accepts the agent line %j",
    (line) => {
      expect(verdicts(`${line}\ndisallow: /x`, "a", ["/x"])).toEqual([false]);
    },
  );

  it.each(["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "Disallow "])(
    "accepts the rule key %j",
    (key) => {
      expect(verdicts(`user-agent: *\n${key}: /x`, "a", ["/x"])).toEqual([false]);
    },
  );
});

describe("matching a rule", () => {
  it.each([
    ["/x", "/xy", true],
    ["/x$", "/x", true],
    ["/x$", "/xy", false],
    ["/x$y", "/x$yz", true],
    ["/*.pdf$", "/a/b.pdf", true],
    ["/*.pdf$", "/a/b.pdf?c", false],
    ["/a*b*c", "/a-b-b-c", true],
    ["/a*b*c", "/a-c-b", false],
    ["/*a$", "/ba", true],
    ["/a*a$", "/a", false],
    ["*/x", "/y/x", true],
    ["x", "/x", false],
    ["/?q=", "/?q=1", true],
  ])("compares %j with %j: %j", (rule, path, isMatch) => {
    expect(verdicts(`user-agent: *\ndisallow: ${rule}`, "a", [path])).toEqual([!isMatch]);
  });

  it.each([
    ["/%7Ejoe/", "/~joe/x"],
    ["/~joe/", "/%7ejoe/x"],
    ["/%e3%83%84", "/%E3%83%84"],
    ["/ツ", "/ツ"],
    ["/ツ", "/%e3%83%84"],
    ["/file-%2A.html", "/file-*.html"],
    ["/price-%24", "/price-$"],
    ["/a b", "/a%20b"],
    ["/100%", "/100%25"],
    ["/foo%2", "/foo%2F"],
  ])("disallows in any spelling: rule %j, path %j", (rule, path) => {
    expect(verdicts(`user-agent: *\ndisallow: ${rule}`, "a", [path])).toEqual([false]);
  });

  it("does not treat an escaped slash as a slash", () => {
    expect(verdicts("user-agent: *\ndisallow: /a/b", "a", ["/a%2Fb"])).toEqual([true]);
  });

  it("prefers Allow if Disallow has the same length only in normal form", () => {
    expect(verdicts("user-agent: *\ndisallow: /%7Ejoe/\nallow: /~joe/", "a", ["/~joe/"])).toEqual([true]);
  });

  it("always allows robots.txt itself", () => {
    expect(verdicts("user-agent: *\ndisallow: /", "a", ["/robots.txt", "/"])).toEqual([true, false]);
  });

  it("disallows canonical URLs that a rule spells differently", () => {
    const url = canonicalUrl("https://a.test/straße/%7ex") ?? "";
    expect(isAllowed(parseRobots("user-agent: *\ndisallow: /straße/"), "a", url)).toBe(false);
  });

  it("agrees with a naive matcher on every pattern", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "$", "*"), maxLength: 10 });
    const path = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 12 }).map((rest) => `/${rest}`);
    fc.assert(
      fc.property(text, path, (pattern, target) => {
        const rules = parseRobots(`user-agent: *\ndisallow: ${pattern}`);
        expect(isAllowed(rules, "a", `https://a.test${target}`)).toBe(
          pattern === "" || !naivelyMatches(pattern, target),
        );
      }),
      { numRuns: 5000 },
    );
  });

  it("applies the longest matching rule, as a naive search does", () => {
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "$"), maxLength: 5 }).map((rest) => `/${rest}`);
    const rule = fc.record({ isAllow: fc.boolean(), pattern });
    const path = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 6 }).map((rest) => `/${rest}`);
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 6 }), path, (rules, target) => {
        const lines = rules.map(({ isAllow, pattern }) => `${isAllow ? "allow" : "disallow"}: ${pattern}`);
        const lengths = (wanted: boolean) =>
          rules
            .filter(({ isAllow, pattern }) => isAllow === wanted && naivelyMatches(pattern, target))
            .map(({ pattern }) => pattern.length);
        const allowed = Math.max(0, ...lengths(true)) >= Math.max(0, ...lengths(false));
        expect(verdicts(["user-agent: *", ...lines].join("\n"), "a", [target])).toEqual([allowed]);
      }),
      { numRuns: 5000 },
    );
  });

  it("takes bounded time on patterns that provoke backtracking", () => {
    const agent = rulesFor(parseRobots(`user-agent: *\ndisallow: /${"a*".repeat(2000)}b$`), "a");
    expect(agent.allows(`/${"a".repeat(4000)}`)).toBe(true);
    expect(agent.allows(`/${"a".repeat(4000)}b`)).toBe(false);
  });
});

describe("parsing a file", () => {
  it("never throws, for any input", () => {
    const word = fc.constantFrom(
      "user-agent",
      "disallow",
      "allow",
      "crawl-delay",
      "sitemap",
      ":",
      "*",
      "$",
      "%",
      "#",
      "\n",
      "\r",
      " ",
    );
    const garbage = fc.array(fc.oneof(word, fc.string({ unit: "binary" }))).map((parts) => parts.join(""));
    fc.assert(
      fc.property(garbage, fc.string(), fc.string({ unit: "binary" }), (text, token, url) => {
        const rules = parseRobots(text);
        isAllowed(rules, token, url);
        crawlDelaySeconds(rules, token);
        sitemapsOf(rules);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(["\n", "\r", "\r\n"])("ends lines at %j", (end) => {
    expect(verdicts(["user-agent: *", "disallow: /x", "allow: /x/y"].join(end), "a", ["/x", "/x/y"])).toEqual([
      false,
      true,
    ]);
  });

  it("skips a byte order mark", () => {
    expect(verdicts("\uFEFFuser-agent: *\ndisallow: /", "a", ["/x"])).toEqual([false]);
  });

  it("finds no rules in an HTML page, even one that quotes some", () => {
    const quote = "<pre>\nuser-agent: *\ndisallow: /\nsitemap: https://a.test/s.xml\n</pre>";
    for (const start of [
      "<!DOCTYPE html>",
      "\uFEFF\n <html lang=en>",
      "<!-- hi -->\n<HEAD>",
      '<?xml version="1.0"?><html>',
    ]) {
      expect(verdicts(start + quote, "a", ["/x"])).toEqual([true]);
      expect(sitemapsOf(parseRobots(start + quote))).toEqual([]);
    }
  });

  it("finds rules after a single tag that is not a page", () => {
    expect(verdicts("<!-- ours -->\nuser-agent: *\ndisallow: /", "a", ["/x"])).toEqual([false]);
  });

  it("reads up to its limit and ignores the line that the limit cuts", () => {
    const start = "user-agent: *\ndisallow: /x\n#";
    const full = `${start}${"x".repeat(MAX_ROBOTS_LENGTH - start.length - "\nallow: /x/".length)}\nallow: /x/`;
    expect(full).toHaveLength(MAX_ROBOTS_LENGTH);
    expect(verdicts(full, "a", ["/x/y"])).toEqual([true]);
    expect(verdicts(`${full}only-this`, "a", ["/x/y", "/x"])).toEqual([false, false]);
  });

  it("cuts lines that are too long", () => {
    const rules = parseRobots(`user-agent: *\ndisallow: /${"x".repeat(20_000)}`);
    expect(isAllowed(rules, "a", `https://a.test/${"x".repeat(2083 * 8)}`)).toBe(false);
  });
});

describe("crawl-delay", () => {
  it.each([
    ["10", 10],
    ["0.5", 0.5],
    ["1,5", 1.5],
    [".5", 0.5],
    ["3 # seconds", 3],
    ["10s", 10],
    ["0", 0],
    ["-1", undefined],
    ["soon", undefined],
    ["", undefined],
    ["9".repeat(400), undefined],
  ])("reads %j as %j seconds", (value, seconds) => {
    expect(crawlDelaySeconds(parseRobots(`user-agent: *\ncrawl-delay: ${value}`), "a")).toBe(seconds);
  });

  it("applies to the agents right above it, without separating them from the rules that follow", () => {
    const text =
      "user-agent: *\ncrawl-delay: 1\nuser-agent: slow\ncrawl-delay: 9\ndisallow: /x\nuser-agent: none\ndisallow:";
    const rules = parseRobots(text);
    expect(["a", "slow", "none"].map((token) => crawlDelaySeconds(rules, token))).toEqual([1, 9, undefined]);
    expect(["a", "slow", "none"].map((token) => isAllowed(rules, token, "https://a.test/x"))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("is the longest if there are several, and is ignored before any agent", () => {
    expect(crawlDelaySeconds(parseRobots("user-agent: *\ncrawl-delay: 2\ndisallow: /\ncrawl-delay: 5"), "a")).toBe(5);
    expect(crawlDelaySeconds(parseRobots("crawl-delay: 2"), "a")).toBeUndefined();
  });
});

describe("sitemaps", () => {
  it("are listed as written, once each, wherever they appear", () => {
    const text =
      "Sitemap: https://a.test/1.xml\nuser-agent: x\nsite-map:https://a.test/2.xml # two\nSITEMAP: https://a.test/1.xml\nsitemap:";
    expect(sitemapsOf(parseRobots(text))).toEqual(["https://a.test/1.xml", "https://a.test/2.xml"]);
  });
});

describe("pathAndQueryOf", () => {
  it.each([
    ["https://a.test/x?y#z", "/x?y"],
    ["https://a.test", "/"],
    ["https://a.test?x", "/?x"],
    ["https://a.test#/x", "/"],
    ["https://a.test/x?u=https://b.test/", "/x?u=https://b.test/"],
    ["", "/"],
  ])("of %j is %j", (url, path) => {
    expect(pathAndQueryOf(url)).toBe(path);
  });
});

function verdicts(text: string, token: string, paths: string[]): boolean[] {
  const rules = rulesFor(parseRobots(text), token);
  return paths.map((path) => rules.allows(path));
}

function naivelyMatches(pattern: string, path: string): boolean {
  if (pattern === "") return true;
  if (pattern === "$") return path === "";
  const rest = pattern.slice(1);
  if (pattern.startsWith("*"))
    return naivelyMatches(rest, path) || (path !== "" && naivelyMatches(pattern, path.slice(1)));
  return path.startsWith(pattern.charAt(0)) && naivelyMatches(rest, path.slice(1));
}
