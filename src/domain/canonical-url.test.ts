import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalUrl, createLinkResolver, MAX_URL_LENGTH, normaliseEscapes } from "./canonical-url.ts";

describe("canonicalUrl", () => {
  it.each([
    ["HTTP://A.Test:80/x", "http://a.test/x"],
    ["https://a.test:443", "https://a.test/"],
    ["https://a.test:80/", "https://a.test:80/"],
    ["https://bücher.test/straße?q=ü", "https://xn--bcher-kva.test/stra%C3%9Fe?q=%C3%BC"],
    ["https://a.test./x", "https://a.test/x"],
    ["https://a.test/b/../c/./d#e", "https://a.test/c/d"],
    ["https://a.test/%7euser/%c3%a9%2f", "https://a.test/~user/%C3%A9%2F"],
    ["https://a.test/a|b^c[d]?e={f}", "https://a.test/a%7Cb%5Ec%5Bd%5D?e=%7Bf%7D"],
    ["https://a.test/100%", "https://a.test/100%25"],
    ["https://a.test/?", "https://a.test/"],
    ["https://a.test/x/.a/../b/.", "https://a.test/x/b/"],
    ["  https://a.test/\n ", "https://a.test/"],
    ["http://0x7f.1/", "http://127.0.0.1/"],
    ["http://[::0001]:8080/", "http://[::1]:8080/"],
    ["https://a.test\\b\\c", "https://a.test/b/c"],
  ])("spells %j as %j", (raw, canonical) => {
    expect(canonicalUrl(raw)).toBe(canonical);
  });

  it.each([
    ["https://a.test/?b=2&a=1&utm_source=x"],
    ["https://a.test//a//b/"],
    ["https://a.test/index.html"],
    ["https://a.test/?b=&c&&"],
    ["https://www.a.test/a+b?a+b"],
  ])("does not unify URLs that a server may distinguish: %s", (url) => {
    expect(canonicalUrl(url)).toBe(url);
  });

  it.each([
    "",
    "a.test/x",
    "ftp://a.test/",
    "mailto:someone@a.test",
    "javascript:void(0)",
    "data:text/html,x",
    "http://",
    "http://a b.test/",
    "http://a..test/",
    "http://.a.test/",
    "http://./",
    "http://a.test../",
    "http://0x7f.1../",
    "http://a.test:99999/",
  ])("has no canonical form for %j", (raw) => {
    expect(canonicalUrl(raw)).toBeUndefined();
  });

  it("refuses URLs with credentials, also if only the base has them", () => {
    expect(canonicalUrl("https://user:secret@a.test/")).toBeUndefined();
    expect(canonicalUrl("https://user@a.test/")).toBeUndefined();
    expect(canonicalUrl("b", "https://user:secret@a.test/")).toBeUndefined();
    expect(createLinkResolver("https://user:secret@a.test/")("b")).toBeUndefined();
  });

  it("refuses URLs that are too long as written or in canonical form, and accepts the longest allowed", () => {
    const origin = "https://a.test/";
    const longest = MAX_URL_LENGTH - origin.length;
    expect(canonicalUrl(origin + "a".repeat(longest))).toHaveLength(MAX_URL_LENGTH);
    expect(canonicalUrl(`${origin}${"a".repeat(longest + 1)}`)).toBeUndefined();
    expect(canonicalUrl(`${origin}#${"a".repeat(longest)}`)).toBeUndefined();
    expect(canonicalUrl(`${origin}${"ü".repeat(longest / 6 + 1)}`)).toBeUndefined();
    expect(createLinkResolver(`${origin}long/`)("a".repeat(longest))).toBeUndefined();
  });

  it("resolves absolute URLs even if the base is invalid", () => {
    expect(canonicalUrl("https://a.test/x", "nonsense")).toBe("https://a.test/x");
    expect(canonicalUrl("https://a.test/é", "")).toBe("https://a.test/%C3%A9");
    expect(canonicalUrl("x", "nonsense")).toBeUndefined();
    expect(createLinkResolver("nonsense")("https://a.test/é")).toBe("https://a.test/%C3%A9");
  });

  it("returns a canonical URL unchanged, and so does the URL parser", () => {
    fc.assert(
      fc.property(aUrl, (raw) => {
        const canonical = canonicalUrl(raw);
        if (canonical === undefined) return;
        expect(canonicalUrl(canonical)).toBe(canonical);
        expect(slowCanonicalUrl(canonical)).toBe(canonical);
        expect(new URL(canonical).href).toBe(canonical);
      }),
      { numRuns: 5000 },
    );
  });

  it("returns the same on the fast path and by parsing", () => {
    fc.assert(
      fc.property(aUrl, (raw) => {
        expect(canonicalUrl(raw)).toBe(slowCanonicalUrl(raw));
      }),
      { numRuns: 5000 },
    );
  });

  it("never throws, for any input", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (raw, base) => {
        canonicalUrl(raw, base);
        createLinkResolver(base)(raw);
      }),
    );
  });
});

describe("createLinkResolver", () => {
  it.each([
    ["", "https://a.test/x/y?z"],
    ["#top", "https://a.test/x/y?z"],
    ["?q=1", "https://a.test/x/y?q=1"],
    ["?", "https://a.test/x/y"],
    ["/b", "https://a.test/b"],
    ["//b.test/c", "https://b.test/c"],
    ["c/d.html#e", "https://a.test/x/c/d.html"],
    ["../d", "https://a.test/d"],
    ["../../../d", "https://a.test/d"],
    ["../", "https://a.test/"],
    ["..", "https://a.test/"],
    ["./d/../e", "https://a.test/x/e"],
    ["/a/%2e%2E/b", "https://a.test/b"],
    ["https://a.test/d", "https://a.test/d"],
    ["https://a.test.evil.test/d", "https://a.test.evil.test/d"],
    ["https:d", "https://a.test/x/d"],
    ["tel:123", undefined],
    [" /b ", "https://a.test/b"],
  ])("resolves %j to %j", (href, url) => {
    expect(createLinkResolver("https://a.test/x/y?z#f")(href)).toBe(url);
  });

  it("returns the same as parsing every link with its base", () => {
    fc.assert(
      fc.property(aUrl, fc.array(anHref, { minLength: 1, maxLength: 5 }), (base, hrefs) => {
        const resolve = createLinkResolver(base);
        for (const href of hrefs) {
          expect(resolve(href), href).toBe(slowCanonicalUrl(href, base));
          expect(canonicalUrl(href, base), href).toBe(slowCanonicalUrl(href, base));
        }
      }),
      { numRuns: 5000 },
    );
  });
});

describe("normaliseEscapes", () => {
  it("is idempotent and leaves only characters that URLs can contain", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(..."%%%%25efAa7"))), (parts) => {
        const normal = normaliseEscapes(parts.join(""));
        expect(normaliseEscapes(normal)).toBe(normal);
        expect(normal).toMatch(/^(?:[\w\-.~:/?#@!$&'()*+,;=]|%[0-9A-F]{2})*$/);
      }),
    );
  });
});

const corpus = new URL("../../../shared/corpora/cc-normalizer/src/test/resources/", import.meta.url);
const hasCorpus = existsSync(corpus);
if (!hasCorpus) console.warn("canonical-url: ../shared/corpora/cc-normalizer is absent, its cases are skipped");

describe("the normaliser cases of crawler-commons", () => {
  it.skipIf(!hasCorpus)("yield the expected URL, except for the declared deviations", () => {
    const cases = readCsv("normalizer/weirdToNormalizedUrls.csv").map(([raw = "", expected]) => ({ raw, expected }));
    expectOnlyDeclared(
      cases.map(({ raw, expected }) => ({ raw, agrees: canonicalUrl(raw) === expected })),
      [
        { because: "only http and https are crawled", raw: /^(?:ftp|file):/, cases: 6 },
        {
          because: "some servers distinguish doubled slashes",
          raw: /^http:\/\/[^/?]+[^?]*\/\//,
          cases: 6,
        },
        { because: "the URL has no host", raw: /^http:\/{4,}$/, cases: 2 },
        { because: "a URL without a scheme is relative", raw: /^foo\.com/, cases: 1 },
        {
          because: "some servers depend on the order of parameters",
          raw: /\?(?:b=[12]|b|b=|&b=1|=1&b=1)&a=1/,
          cases: 9,
        },
        { because: "some servers distinguish empty parameters", raw: /\?(?:a=1&b=|&=1&a=1)$/, cases: 2 },
      ],
    );
  });

  it.skipIf(!hasCorpus)("have no canonical form if they are invalid", () => {
    const cases = readCsv("normalizer/invalidUrls.csv");
    expect(cases.length).toBeGreaterThan(0);
    for (const [raw = ""] of cases) expect(canonicalUrl(raw), raw).toBeUndefined();
  });

  it.skipIf(!hasCorpus)("resolve to the expected URL, except for the declared deviations", () => {
    const cases = readCsv("url-utils/url-resolve.csv");
    expectOnlyDeclared(
      cases.map(([raw = "", base = "", expected]) => ({
        raw,
        agrees: canonicalUrl(raw, base) === expected && createLinkResolver(base)(raw) === expected,
      })),
      [
        { because: "URLs with credentials are refused", raw: /@/, cases: 1 },
        { because: "only http and https are crawled", raw: /^\/\/server\//, cases: 1 },
        { because: "fragments are dropped", raw: /^#/, cases: 1 },
        { because: "hex digits of escapes are in upper case", raw: /%2f/, cases: 2 },
      ],
    );
  });
});

type Deviation = { because: string; raw: RegExp; cases: number };

/** Every case agrees or has one declared deviation, and no deviation is declared for a case that agrees. */
function expectOnlyDeclared(results: { raw: string; agrees: boolean }[], deviations: Deviation[]): void {
  expect(results.length).toBeGreaterThan(0);
  const deviating = results.filter(({ agrees }) => !agrees).map(({ raw }) => raw);
  for (const { because, raw, cases } of deviations) {
    expect(
      results.filter((result) => raw.test(result.raw)),
      because,
    ).toHaveLength(cases);
    expect(
      deviating.filter((found) => raw.test(found)),
      because,
    ).toHaveLength(cases);
  }
  expect(deviating.filter((raw) => !deviations.some((deviation) => deviation.raw.test(raw)))).toEqual([]);
}

function readCsv(path: string): string[][] {
  const lines = readFileSync(new URL(path, corpus), "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.startsWith("#")).map(fieldsOf);
}

function fieldsOf(line: string): string[] {
  const fields = line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...fields].map(([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain.trim());
}

/** The reference implementation, without a fast path. */
function slowCanonicalUrl(raw: string, base?: string): string | undefined {
  if (raw.length > MAX_URL_LENGTH) return undefined;
  const url = parse(raw, base === undefined ? base : (slowCanonicalUrl(base) ?? base)) ?? parse(raw);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== "") return undefined;
  const host = url.hostname.replace(/\.$/, "");
  if (host.split(".").includes("")) return undefined;
  const port = url.port && `:${url.port}`;
  const canonical = `${url.protocol}//${host}${port}${dotless(normaliseEscapes(url.pathname))}${normaliseEscapes(url.search)}`;
  return canonical.length > MAX_URL_LENGTH ? undefined : canonical;
}

// Not URL.canParse: in Node 20 it rejects Latin-1 letters after many calls.
function parse(raw: string, base?: string): URL | undefined {
  try {
    return new URL(raw, base);
  } catch {
    return undefined;
  }
}

/** RFC 3986, 5.2.4, literally. */
function dotless(path: string): string {
  let input = path;
  let output = "";
  while (input !== "") {
    if (input.startsWith("/./") || input === "/.") input = `/${input.slice(3)}`;
    else if (input.startsWith("/../") || input === "/..") {
      input = `/${input.slice(4)}`;
      output = output.slice(0, Math.max(0, output.lastIndexOf("/")));
    } else {
      const segment = /^\/[^/]*/.exec(input)?.[0] ?? input;
      output += segment;
      input = input.slice(segment.length);
    }
  }
  return output;
}

/** Pieces that parsing treats differently. Combinations of them cover every rule. */
const piece = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom("a", "b1", "-", "_", "/", "/", ".", "..", "/../", "./", "../", "index.html"),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom("?", "#", "&", "=", ":", "@", "'", "%", "%2e", "%41", "%c3", "+", ";", "~", "*"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(" ", "\t", "\\", "|", "[", "]", "^", "{", '"', "<", "ü", "語", "\u0000", "\ud800"),
  },
);
const tail = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
const host = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("a.test", "www.a.test", "127.0.0.1:8080", "localhost:3000", "xn--bcher-kva.test"),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom("A.test", "a.test.", "a.test:80", "a.test:443", "bücher.test", "[::1]", "1.2", "0x7f.1"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("u@a.test", "u:p@a.test", "a..test", "xn--a", "a--b.test", "-a-.test", "", "%61.test"),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.oneof(fc.constantFrom(".", "-", "xn--"), fc.string({ unit: "grapheme" })))
      .map((all) => all.join("")),
  },
);
const scheme = fc.constantFrom("http://", "https://", "https://", "HTTPS://", "https:", "http:/", "//", "ftp://");
const aUrl = fc.tuple(scheme, host, fc.constantFrom("/", "/", "", "//"), tail).map((parts) => parts.join(""));
const anHref = fc.oneof(
  tail,
  aUrl,
  fc.constantFrom("/", "../", "./", "?", "#").chain((start) => tail.map((rest) => start + rest)),
);
