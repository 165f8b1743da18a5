import { describe, expect, it } from "vitest";
import { conditionalHeaders, isContradicted, validatorsOf } from "./validators.ts";

const FETCHED_AT = Date.parse("2026-11-16T10:00:00Z");
const of = (headers: Record<string, string>) => validatorsOf({ headers, fetchedAt: FETCHED_AT });

describe("validators", () => {
  it.each([['"abc"'], ['W/"abc"'], ['"a,b"'], ["abc"], ['"\xe9"'], [`"${"x".repeat(998)}"`]])(
    "uses the ETag %s unchanged",
    (etag) => {
      expect(of({ etag })).toEqual({ etag, lastModified: undefined });
      expect(conditionalHeaders(of({ etag }))).toEqual({ "if-none-match": etag });
    },
  );

  it.each([
    [""],
    ['""'],
    ['W/""'],
    ['"a b'],
    ["a b"],
    ["a,b"],
    ["*,"],
    ['"a"b"'],
    [`"${"x".repeat(5_000)}"`],
    ['"a\tb"'],
  ])("ignores the ETag %j", (etag) => {
    expect(of({ etag }).etag).toBeUndefined();
  });

  it("keeps a date in the past unchanged", () => {
    const lastModified = "Sun, 06 Nov 1994 08:49:37 GMT";
    expect(of({ "last-modified": lastModified })).toEqual({ etag: undefined, lastModified });
    expect(conditionalHeaders(of({ "last-modified": lastModified }))).toEqual({ "if-modified-since": lastModified });
  });

  it.each([
    ["garbage"],
    ["0"],
    ["Sun, 99 Nov 1994 08:49:37 GMT"],
    ["1994-11-06T08:49:37Z"],
    ["Mon, 16 Nov 2026 10:00:00 GMT"], // the page may change again within that second
    ["Tue, 17 Nov 2026 10:00:00 GMT"],
  ])("ignores the date %s", (date) => {
    expect(of({ "last-modified": date }).lastModified).toBeUndefined();
  });

  it("uses the Date header of the server, if there is one", () => {
    const headers = { "last-modified": "Mon, 16 Nov 2026 12:00:00 GMT" };
    expect(of({ ...headers, date: "Mon, 16 Nov 2026 12:00:01 GMT" }).lastModified).toBe(headers["last-modified"]);
    expect(of({ ...headers, date: "Mon, 16 Nov 2026 12:00:00 GMT" }).lastModified).toBeUndefined();
  });

  it("are contradicted only by the ETag of another version, weak or strong", () => {
    const sent = { etag: 'W/"1"', lastModified: undefined };
    expect(isContradicted(sent, { etag: '"1"' })).toBe(false);
    expect(isContradicted(sent, {})).toBe(false);
    expect(isContradicted(sent, { etag: '"2"' })).toBe(true);
    expect(isContradicted({ etag: undefined, lastModified: "x" }, { etag: '"2"' })).toBe(false);
  });
});
