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
  ])("takes %s for a reason to try again: %s", (code, because) => {
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
  ])("takes %s for an answer that will not get better", (code) => {
    expect(transportFailure(coded(code))).toMatchObject({ kind: "dead", because: "bad_response" });
  });

  it("names the certificate where it is the problem", () => {
    expect(transportFailure(coded("CERT_HAS_EXPIRED")).detail).toContain("certificate");
  });

  it("passes on what the gate says", () => {
    const error = new TrawlError("EGRESS_REFUSED", { op: "egress.connect", message: "not there" });
    expect(transportFailure(error)).toEqual({ kind: "dead", because: "egress_refused", detail: "not there" });
  });

  it("looks into the error that stands for several addresses", () => {
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

  it.each(["a string", undefined, null, 7])("does not stumble over %j instead of an error", (thrown) => {
    expect(transportFailure(thrown)).toMatchObject({ kind: "retry", because: "network" });
  });
});

describe("isBrokenConnection", () => {
  it("knows a connection that went away from other failures", () => {
    expect(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].every((code) => isBrokenConnection(coded(code)))).toBe(true);
    expect(["ECONNREFUSED", "ENOTFOUND", "UND_ERR_BODY_TIMEOUT"].some((code) => isBrokenConnection(coded(code)))).toBe(
      false,
    );
  });
});
