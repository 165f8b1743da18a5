import { describe, expect, it } from "vitest";
import { STATUS_POLICY, statusVerdict } from "./status-policy.ts";

describe("statusVerdict", () => {
  it("agrees with the taxonomy on every status from 200 to 999", () => {
    const expected = (status: number): string => {
      if (status <= 299) return "page";
      if (status === 304) return "unchanged";
      if ([301, 302, 303, 307, 308].includes(status)) return "redirect";
      if ([429, 503].includes(status)) return "throttled";
      if ([408, 425].includes(status)) return "server_error";
      if (status >= 500 && status <= 599 && status !== 501 && status !== 505) return "server_error";
      return "dead";
    };
    const actual = (status: number): string => {
      const verdict = statusVerdict(status);
      return verdict.kind === "retry" ? verdict.because : verdict.kind;
    };
    for (let status = 200; status <= 999; status++)
      expect([status, actual(status)]).toEqual([status, expected(status)]);
  });

  it("marks the statuses whose page has no body", () => {
    const bodyless = [200, 201, 203, 204, 205, 206].filter((status) => {
      const verdict = statusVerdict(status);
      return verdict.kind === "page" && !verdict.hasBody;
    });
    expect(bodyless).toEqual([204, 205]);
  });

  it("has a last row that covers every status", () => {
    expect(STATUS_POLICY.at(-1)).toMatchObject({ from: 0, to: 999 });
  });
});
