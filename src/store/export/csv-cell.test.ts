import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvCell, csvLine } from "./csv-cell.ts";

describe("a CSV cell", () => {
  it.each([
    ["plain", "plain"],
    ["with, comma", '"with, comma"'],
    ['say "hi"', '"say ""hi"""'],
    ["two\nlines", '"two\nlines"'],
    [null, ""],
    [undefined, ""],
    [true, "true"],
    [0, "0"],
    [-12.5, "-12.5"],
    [1e21, "1e+21"],
    [["a", 1], '"[""a"",1]"'],
    [{ a: null }, '"{""a"":null}"'],
  ])("writes %j as %s", (value, cell) => {
    expect(csvCell(value)).toBe(cell);
  });

  it.each(["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-", "＝1+1", "+1 555 0100"])(
    "prefixes %j with an apostrophe, because a spreadsheet might run it",
    (text) => {
      expect(parseCsv(`${csvCell(text)}\r\n`)).toEqual([[`'${text}`]]);
    },
  );

  it.each(["-5", "+5", "-0.25", "+.5", "-1e9", "5-3", "a=b"])(
    "leaves %j unchanged, because it is not a formula",
    (text) => {
      expect(csvCell(text)).toBe(text);
    },
  );

  it("can be read back by any CSV parser, with at most an added apostrophe", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom('"', ",", "\r", "\n", "=", "+", "-", "@", "\t", "'", "1", ".", " ", "é") }),
    );
    fc.assert(
      fc.property(fc.array(fc.array(text, { minLength: 2, maxLength: 4 }), { minLength: 1 }), (rows) => {
        const read = parseCsv(rows.map(csvLine).join(""));
        expect(read.map((row) => row.length)).toEqual(rows.map((row) => row.length));
        read.flat().forEach((cell, index) => {
          const wanted = rows.flat()[index];
          expect([wanted, `'${wanted}`]).toContain(cell);
          if (cell === wanted && !/^[+-]?[\d.]+$/.test(cell)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        });
      }),
    );
  });
});

/** A strict RFC 4180 parser that shares no code with the writer. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      at += 1;
      while (text[at] !== '"' || text[at + 1] === '"') {
        if (at >= text.length) throw new Error("a quoted cell does not end");
        cell += text[at];
        at += text[at] === '"' ? 2 : 1;
      }
      at += 1;
    } else {
      while (text[at] !== "," && text[at] !== "\r") {
        if (at >= text.length) throw new Error("a line does not end");
        if (text[at] === '"' || text[at] === "\n") throw new Error(`unexpected ${JSON.stringify(text[at])}`);
        cell += text[at];
        at += 1;
      }
    }
    row.push(cell);
    if (text[at] === ",") {
      at += 1;
      continue;
    }
    if (text.slice(at, at + 2) !== "\r\n") throw new Error("a cell ends in neither a comma nor a line end");
    at += 2;
    rows.push(row);
    row = [];
  }
  return rows;
}
