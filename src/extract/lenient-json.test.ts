import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLenientJson } from "./lenient-json.ts";

describe("parsing lenient JSON", () => {
  it.each([
    ["plain", '{"a": [1, null]}', { a: [1, null] }],
    ["in an HTML comment", '<!-- {"a": 1} -->', { a: 1 }],
    ["in CDATA", '//<![CDATA[\n{"a": 1}\n//]]>', { a: 1 }],
    ["in commented CDATA", '/*<![CDATA[*/ {"a": 1} /*]]>*/', { a: 1 }],
    ["with a raw line break in a string", '{"a": "one\ntwo"}', { a: "one two" }],
    ["with trailing commas", '{"a": [1, 2, ], "b": ",}", }', { a: [1, 2], b: ",}" }],
    ["with quotes as HTML entities", "{&quot;a&quot;: &quot;b &amp; c&quot;}", { a: "b & c" }],
    ["with a semicolon at the end", '{"a": 1};', { a: 1 }],
    ["with a backslash-escaped quote before a comma", '{"a": "x\\",]", }', { a: 'x",]' }],
  ])("accepts JSON %s", (_case, text, value) => {
    expect(parseLenientJson(text)).toEqual(value);
  });

  it.each(["", "{", "var x = 1", "{'a': 1}", "[1 2]"])("returns undefined for %j", (text) => {
    expect(parseLenientJson(text)).toBeUndefined();
  });

  it("parses every JSON value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseLenientJson(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\<!->/* 1a\n') }), (text) => {
        parseLenientJson(text);
      }),
    );
  });

  it("refuses values nested so deep that JSON.stringify would overflow the stack", () => {
    expect(parseLenientJson(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)).toBeUndefined();
  });

  it("does not hang on long unterminated strings and arrays", () => {
    expect(parseLenientJson(`{"a": "${'\\"'.repeat(500_000)}`)).toBeUndefined();
    expect(parseLenientJson(`[${", ".repeat(500_000)}`)).toBeUndefined();
  });
});
