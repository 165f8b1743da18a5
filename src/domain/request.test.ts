import { describe, expect, it } from "vitest";
import { requestAfterRedirect, requestMark, type TaskRequest } from "./request.ts";

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
