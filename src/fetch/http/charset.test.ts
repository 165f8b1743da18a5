import { existsSync, readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { decodeBody } from "./charset.ts";

const HTML = "text/html";

describe("decodeBody", () => {
  it.each<[string, Buffer, string | undefined, string, string]>([
    [
      "a UTF-8 byte order mark before all other declarations",
      Buffer.from("\ufeffé<meta charset=koi8-r>"),
      "text/html; charset=koi8-r",
      "utf-8",
      "é<meta charset=koi8-r>",
    ],
    ["a UTF-16 byte order mark", Buffer.from("\ufeffé", "utf16le"), "text/html; charset=utf-8", "utf-16le", "é"],
    ["a big-endian UTF-16 byte order mark", Buffer.from([0xfe, 0xff, 0, 0xe9]), undefined, "utf-16be", "é"],
    ["the header before the page", Buffer.from([0xe9]), "text/html; charset=iso-8859-1", "windows-1252", "é"],
    ["a quoted charset in the header", Buffer.from("é"), 'text/html; Charset="UTF-8"', "utf-8", "é"],
    ["a single-quoted charset in the header", Buffer.from("é"), "text/html;charset='utf8'", "utf-8", "é"],
    [
      "the page if the header declares no charset",
      iconv.encode("<meta charset=koi8-r>да", "koi8-r"),
      HTML,
      "koi8-r",
      "<meta charset=koi8-r>да",
    ],
    [
      "the page if the header declares an unknown charset",
      iconv.encode("<meta charset=koi8-r>да", "koi8-r"),
      "text/html; charset=none",
      "koi8-r",
      "<meta charset=koi8-r>да",
    ],
    [
      "http-equiv",
      iconv.encode('<meta http-equiv=Content-Type content="text/html;charset=shift_jis">日本', "shift_jis"),
      HTML,
      "shift_jis",
      '<meta http-equiv=Content-Type content="text/html;charset=shift_jis">日本',
    ],
    [
      "an XML declaration",
      iconv.encode('<?xml version="1.0" encoding="iso-8859-2"?>ł', "iso-8859-2"),
      "text/xml",
      "iso-8859-2",
      '<?xml version="1.0" encoding="iso-8859-2"?>ł',
    ],
    ["the bytes of undeclared UTF-8", Buffer.from("naïve"), undefined, "utf-8", "naïve"],
    [
      "the default for undeclared bytes that are not UTF-8",
      Buffer.from([0x93, 0xe9, 0x94, 0x80]),
      undefined,
      "windows-1252",
      "“é”€",
    ],
    [
      "a charset that TextDecoder does not support",
      iconv.encode("é", "cp850"),
      "text/plain; charset=cp850",
      "cp850",
      "é",
    ],
    ["UTF-8 for ASCII JSON", Buffer.from('{"a":1}'), "application/json", "utf-8", '{"a":1}'],
    [
      "UTF-8 for JSON that contains a charset declaration in a string",
      Buffer.from('{"html":"<meta charset=iso-8859-1>é"}'),
      "application/json",
      "utf-8",
      '{"html":"<meta charset=iso-8859-1>é"}',
    ],
    [
      "UTF-8 for JSON with one invalid byte",
      Buffer.concat([Buffer.from('["é'), Buffer.from([0xe9]), Buffer.from('"]')]),
      "application/problem+json",
      "utf-8",
      '["é\ufffd"]',
    ],
    ["UTF-8 for JSON lines", Buffer.from("{}\n{}"), "application/x-ndjson", "utf-8", "{}\n{}"],
    ["UTF-8 for JSON with an unknown charset", Buffer.from('["é"]'), "text/json; charset=none", "utf-8", '["é"]'],
    ["the charset that JSON declares", Buffer.from([0xe9]), "application/json; charset=latin1", "windows-1252", "é"],
    ["the byte order mark of JSON", Buffer.from("\ufeff[]", "utf16le"), "application/json", "utf-16le", "[]"],
    [
      "the declaration in plain text",
      iconv.encode("<meta charset=koi8-r>да", "koi8-r"),
      "text/plain",
      "koi8-r",
      "<meta charset=koi8-r>да",
    ],
    ["the default for an empty body", Buffer.alloc(0), undefined, "windows-1252", ""],
  ])("uses %s", (_, body, contentType, charset, text) => {
    expect(decodeBody(body, contentType)).toEqual({ text, charset });
  });

  it.each(["hex", "base64", "x-user-defined", "replacement", "", "💥"])("ignores charset=%s", (label) => {
    expect(decodeBody(Buffer.from("é"), `text/html; charset=${label}`).text).toBe("é");
  });

  it("maps every byte of windows-1252 as the Encoding Standard does", () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
    const { text } = decodeBody(all, "text/html; charset=windows-1252");
    const reference = iconv.decode(all, "windows-1252");
    for (let n = 0; n < 256; n++) {
      const undefinedThere = reference[n] === "\ufffd";
      expect(text[n]).toBe(undefinedThere ? String.fromCharCode(n) : reference[n]);
    }
  });

  it("decodes any UTF-8 text, and never throws for any input", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(decodeBody(Buffer.from(text), "text/html; charset=utf-8").text).toBe(text.replace(/^\ufeff/, ""));
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.option(fc.string(), { nil: undefined }), (bytes, label) => {
        expect(typeof decodeBody(Buffer.from(bytes), label && `text/html; charset=${label}`).text).toBe("string");
      }),
    );
  });
});

const corpora = new URL("../../../../shared/corpora/", import.meta.url);
const hasCorpora = existsSync(corpora);
if (!hasCorpora) console.warn("../shared/corpora is absent: the tests of sniffed charsets are skipped");

describe("the charset corpora", () => {
  it.skipIf(!hasCorpora)("html-encoding-sniffer: every file has the encoding its name ends in", () => {
    const fixtures = new URL("html-encoding-sniffer/test/fixtures/", corpora);
    const files = readdirSync(fixtures, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));
    expect(files.length).toBeGreaterThanOrEqual(15);
    for (const file of files) {
      const { charset } = decodeBody(readFileSync(new URL(file, fixtures)), undefined);
      // If the meta tag can be read as ASCII, the page is not in UTF-16, even if the tag says so. It is decoded as
      // UTF-8.
      const expected = file.startsWith("utf/") ? "utf-8" : (/([^_/]+)\.html$/.exec(file)?.[1] ?? "");
      expect([file, charset]).toEqual([file, expected.toLowerCase()]);
    }
  });

  it.skipIf(!hasCorpora)("html5lib: every byte sequence has the expected encoding", () => {
    const folder = new URL("html5lib/", corpora);
    const wrong: string[] = [];
    let cases = 0;
    for (const file of readdirSync(folder)) {
      for (const { body, expected } of encodingCases(readFileSync(new URL(file, folder)))) {
        cases++;
        const { charset } = decodeBody(body, undefined);
        if (charset !== expected) wrong.push(`${file} ${expected} ${charset} ${body.toString("latin1").slice(0, 200)}`);
      }
    }
    expect(cases).toBeGreaterThanOrEqual(82);
    expect(wrong).toEqual([]);
  });
});

function encodingCases(file: Buffer): { body: Buffer; expected: string }[] {
  const blocks = file
    .toString("latin1")
    .split(/^#data\n/m)
    .slice(1);
  return blocks.map((block) => {
    const [body = "", encoding = ""] = block.split(/\n#encoding\n/);
    return { body: Buffer.from(body, "latin1"), expected: encoding.trim().toLowerCase() };
  });
}
