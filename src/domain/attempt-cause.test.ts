import { describe, expect, it } from "vitest";
import { attemptCause, lastCause } from "./attempt-cause.ts";

describe("the cause of a failed attempt", () => {
  it.each([
    [{ because: "server_error", status: 503, detail: "answered 503" }, "HTTP 503"],
    [{ because: "timeout", detail: "no response in time (UND_ERR_HEADERS_TIMEOUT)" }, "timed out"],
    [{ because: "network", detail: "connection refused (connect ECONNREFUSED 127.0.0.1:9)" }, "connection refused"],
    [{ because: "render_failed" }, "render_failed"],
    [{ because: "blocked", status: 403, detail: "answered 403, blocked (akamai)" }, "blocked (akamai)"],
    [
      { because: "blocked", status: 403, detail: "answered 403, blocked (status 403), next step: wait" },
      "blocked (status 403)",
    ],
    [{ because: "dns", status: null, detail: null }, "dns"],
  ])("%j is %s", (attempt, cause) => {
    expect(attemptCause(attempt)).toBe(cause);
  });

  it("is the cause of the last attempt, and only exists for retries_spent and blocked", () => {
    const history = [{ because: "timeout" }, { because: "server_error", status: 500 }];
    expect(lastCause("retries_spent", history)).toBe("HTTP 500");
    expect(lastCause("blocked", [{ because: "blocked", detail: "blocked (captcha)" }])).toBe("blocked (captcha)");
    expect(lastCause("http_status", history)).toBeUndefined();
    expect(lastCause("retries_spent", [])).toBeUndefined();
  });
});
