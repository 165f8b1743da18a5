import { describe, expect, it } from "vitest";
import type { Credentials } from "../../domain/job-spec.ts";
import { authFrom } from "../../submit/auth-schema.ts";
import { parseJob } from "../../submit/resolve-job.ts";
import { headersOf } from "./make-plan.ts";

const SECRETS: Record<string, string> = { "env:PASSWORD": "pässword:1", "env:TOKEN": "t0ken" };
const resolveSecret = (text: string) => SECRETS[text] ?? text;

/** The `authorization` header of a request to `url`, which a link leads to. */
function sentTo(url: string, auth: Record<string, Credentials>, own: Record<string, string> = {}) {
  const headersFor = headersOf({ headers: { "x-job": "1" }, auth, origins: ["https://a.example"] }, resolveSecret);
  return headersFor({ url, depth: 3, redirects: 1, request: { method: "GET", headers: own } }).authorization;
}

describe("the credentials of an origin", () => {
  const auth = authFrom({
    "https://A.example:443/": { basic: { user: "alice", password: "env:PASSWORD" } },
    "http://api.example:8080": { bearer: "env:TOKEN" },
  });

  it.each([
    ["https://a.example/x", `Basic ${Buffer.from("alice:pässword:1").toString("base64")}`],
    ["http://api.example:8080/x?y", "Bearer t0ken"],
    ["http://a.example/x", undefined],
    ["https://a.example:444/x", undefined],
    ["https://www.a.example/x", undefined],
    ["https://a.example.evil.example/x", undefined],
    ["http://api.example/x", undefined],
  ])("in a request to %s are %s", (url, authorization) => {
    expect(sentTo(url, auth)).toBe(authorization);
  });

  it("are overridden by the header of a request", () => {
    expect(sentTo("https://a.example/x", auth, { authorization: "own" })).toBe("own");
  });

  it("override the header of the job", () => {
    const headersFor = headersOf(
      { headers: { authorization: "job" }, auth, origins: ["https://a.example"] },
      resolveSecret,
    );
    const authorizationAt = (url: string) => headersFor({ url, depth: 0, redirects: 0 }).authorization;
    expect(authorizationAt("https://a.example/")).toMatch(/^Basic /);
    expect(authorizationAt("https://b.example/")).toBe("job");
  });

  it.each<[object, RegExp]>([
    [{ "https://a.example/path": { bearer: "x" } }, /auth\.https:\/\/a\.example\/path: is not an origin; use scheme/],
    [{ "a.example": { bearer: "x" } }, /is not an origin/],
    [{ "https://u:p@a.example": { bearer: "x" } }, /is not an origin/],
    [{ "ftp://a.example": { bearer: "x" } }, /is not an origin/],
    [{ "https://a.example": {} }, /takes either basic: \{ user, password \} or bearer/],
    [{ "https://a.example": { bearer: "x", basic: { user: "u", password: "p" } } }, /takes either basic/],
    [{ "https://a.example": { bearer: "x\ny" } }, /characters that are not allowed in a header/],
    [{ "https://a.example": { basic: { user: "u" } } }, /basic\.password/],
  ])("are refused in the form %j", (given, problem) => {
    expect(() => parseJob({ auth: given })).toThrow(problem);
  });

  it("are refused twice for the same origin", () => {
    expect(() => authFrom({ "https://a.example": { bearer: "x" }, "https://A.example:443": { bearer: "y" } })).toThrow(
      /is the same origin as another key, https:\/\/a\.example/,
    );
  });
});
