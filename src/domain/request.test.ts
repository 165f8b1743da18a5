import { describe, expect, it } from "vitest";
import { bodyProblem, bodyRefOf, isLargeBody, requestAfterRedirect, requestMark, type TaskRequest } from "./request.ts";

const POST: TaskRequest = { method: "POST", headers: { "content-type": "text/plain", "x-own": "1" }, body: "a" };

describe("a request", () => {
  it("is marked by its method and body, unless it is a GET without a body", () => {
    expect(requestMark({ method: "GET", headers: { a: "1" } })).toBeUndefined();
    expect(requestMark({ method: "HEAD" })).toBe("head");
    expect(requestMark(POST)).toMatch(/^post-[0-9a-f]{16}$/);
    expect(requestMark(POST)).toBe(requestMark({ ...POST, headers: {} }));
    expect(requestMark(POST)).not.toBe(requestMark({ ...POST, body: "b" }));
    expect(requestMark(POST)).not.toBe(requestMark({ ...POST, method: "PUT" }));
  });

  it("has the same mark with a body and with its reference", () => {
    const body = "é".repeat(100_000);
    const byReference: TaskRequest = { method: "POST", bodyRef: bodyRefOf(body) };
    expect(requestMark(byReference)).toBe(requestMark({ method: "POST", body }));
    expect(requestAfterRedirect(byReference, 307, true)).toEqual(byReference);
    expect(requestAfterRedirect(byReference, 302, true)).toBeUndefined();
  });

  it.each([
    ["a".repeat(65_536), false],
    ["a".repeat(65_537), true],
    ["é".repeat(32_768), false],
    ["é".repeat(32_769), true],
  ])("has a large body if it has more than 65,536 bytes (%#)", (body, isLarge) => {
    expect(isLargeBody({ body })).toBe(isLarge);
  });

  it.each([
    [65_536, "none", undefined],
    [65_537, "none", /65537 bytes.*TRAWL_BODIES, which is none; set TRAWL_BODIES/],
    [65_537, "file:x", undefined],
    [65_537, undefined, undefined],
    [70_001, "file:x", /70001 bytes, more than the limit of 70000; raise TRAWL_REQUEST_BODY_BYTES/],
  ])("with a body of %i bytes and TRAWL_BODIES %s has the problem %s", (bytes, bodies, problem) => {
    const found = bodyProblem(bytes, { bodies, requestBodyBytes: 70_000 });
    expect(found).toEqual(problem === undefined ? undefined : expect.stringMatching(problem));
  });

  it.each([
    [301, { method: "GET", headers: { "x-own": "1" } }],
    [302, { method: "GET", headers: { "x-own": "1" } }],
    [303, { method: "GET", headers: { "x-own": "1" } }],
    [307, POST],
    [308, POST],
  ])("after %i continues as in a browser", (status, next) => {
    expect(requestAfterRedirect(POST, status, true)).toEqual(next);
  });

  it("keeps other methods than POST after 301 and 302, and becomes a GET after 303, except HEAD", () => {
    const put: TaskRequest = { ...POST, method: "PUT" };
    expect(requestAfterRedirect(put, 302, true)).toEqual(put);
    expect(requestAfterRedirect(put, 303, true)).toEqual({ method: "GET", headers: { "x-own": "1" } });
    expect(requestAfterRedirect({ method: "HEAD" }, 303, true)).toEqual({ method: "HEAD" });
  });

  it("loses its headers at another origin", () => {
    expect(requestAfterRedirect(POST, 307, false)).toEqual({ method: "POST", body: "a" });
    expect(requestAfterRedirect(POST, 303, false)).toBeUndefined();
    expect(requestAfterRedirect(undefined, 302, true)).toBeUndefined();
  });
});
