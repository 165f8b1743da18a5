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
    ["out.xlsx", /out\.xlsx: the format is unknown; use one of jsonl, ndjson, json, csv/],
    ["out", /out: it has no file extension/],
    ["out.constructor", /the format is unknown/],
  ])("%s is rejected with the list of known formats", (path, message) => {
    expect(() => formatOf(path)).toThrow(message);
    expect(() => formatOf(path)).toThrow(expect.toSatisfy((error) => isTrawlError(error, "BAD_OUTPUT")));
  });

  it("can be given by name, without a path", () => {
    expect(parseFormat("ndjson")).toBe("jsonl");
    expect(() => parseFormat("xml")).toThrow(/format "xml": the format is unknown/);
  });
});
