import { describe, expect, it } from "vitest";
import { TrawlError } from "../../errors.ts";
import { isBrokenConnection, TOTAL_TIMEOUT, transportFailure } from "./transport-error.ts";

function coded(code: string, message = "what happened"): Error {
  return Object.assign(new Error(message), { code });
}

describe("transportFailure", () => {
  it.each([
    ["ENOTFOUND", "dns"],
    ["EAI_AGAIN", "dns"],
    ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
    ["UND_ERR_BODY_TIMEOUT", "timeout"],
    ["ETIMEDOUT", "timeout"],
    [TOTAL_TIMEOUT, "timeout"],
    ["ECONNREFUSED", "network"],
    ["ECONNRESET", "network"],
    ["EHOSTUNREACH", "network"],
    ["UND_ERR_SOCKET", "network"],
    ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "network"],
    ["HPE_INVALID_EOF_STATE", "network"],
    ["SOMETHING_NEW", "network"],
  ])("maps %s to a retry because of: %s", (code, because) => {
    expect(transportFailure(coded(code))).toMatchObject({
      kind: "retry",
      because,
      detail: expect.stringContaining(code),
    });
  });

  it.each([
    "HPE_INVALID_CONSTANT",
    "UND_ERR_HEADERS_OVERFLOW",
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "EPROTO",
  ])("maps %s to a bad response, which is not retried", (code) => {
    expect(transportFailure(coded(code))).toMatchObject({ kind: "dead", because: "bad_response" });
  });

  it("mentions the certificate if it is invalid", () => {
    expect(transportFailure(coded("CERT_HAS_EXPIRED")).detail).toContain("certificate");
  });

  it("uses the message of the egress gate", () => {
    const error = new TrawlError("EGRESS_REFUSED", { op: "egress.connect", message: "not there" });
    expect(transportFailure(error)).toEqual({ kind: "dead", because: "egress_refused", detail: "not there" });
  });

  it("uses the first error of an AggregateError for several addresses", () => {
    const several = new AggregateError([
      coded("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1"),
      coded("EHOSTUNREACH"),
    ]);
    const { detail } = transportFailure(several);
    expect(detail).toBe("connection refused (connect ECONNREFUSED 127.0.0.1:1)");
  });

  it("fits every detail on one line of bounded length", () => {
    const { detail } = transportFailure(coded("EPROTO", `a\nb\r\n${"long ".repeat(1_000)}`));
    expect(detail).toMatch(/^[^\r\n]{1,300}$/);
  });

  it.each(["a string", undefined, null, 7])("accepts %j instead of an error", (thrown) => {
    expect(transportFailure(thrown)).toMatchObject({ kind: "retry", because: "network" });
  });
});

describe("isBrokenConnection", () => {
  it("distinguishes a dropped connection from other failures", () => {
    expect(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].every((code) => isBrokenConnection(coded(code)))).toBe(true);
    expect(["ECONNREFUSED", "ENOTFOUND", "UND_ERR_BODY_TIMEOUT"].some((code) => isBrokenConnection(coded(code)))).toBe(
      false,
    );
  });
});
