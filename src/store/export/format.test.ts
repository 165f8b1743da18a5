import { describe, expect, it } from "vitest";
import { isTrawlError } from "../../errors.ts";
import { formatOf, parseFormat } from "./format.ts";

describe("the format of an output", () => {
  it.each([
    ["out.jsonl", "jsonl"],
    ["a.b/out.NDJSON", "jsonl"],
    ["out.json", "json"],
    ["/tmp/out.csv", "csv"],
    ["out.Parquet", "parquet"],
  ])("%s is %s", (path, format) => {
    expect(formatOf(path)).toBe(format);
  });

  it.each([
    ["out.xlsx", /out\.xlsx: no such format is known; use one of jsonl, ndjson, json, csv/],
    ["out", /out: its name does not end in a format/],
    ["out.constructor", /no such format is known/],
  ])("%s is refused with what is known", (path, message) => {
    expect(() => formatOf(path)).toThrow(message);
    expect(() => formatOf(path)).toThrow(expect.toSatisfy((error) => isTrawlError(error, "BAD_OUTPUT")));
  });

  it("can be given by name alone", () => {
    expect(parseFormat("ndjson")).toBe("jsonl");
    expect(() => parseFormat("xml")).toThrow(/format "xml": no such format/);
  });
});
