import { describe, expect, it } from "vitest";
import { parseTraceparent, requestIdOfTrace, submitSpanId, taskSpan, traceOf } from "./trace-ids.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("the trace of a request", () => {
  it("is the caller's trace, and the request id records whether the trace is sampled", () => {
    const [wanted, unwanted] = ["01", "00"].map((flags) => parseTraceparent(`00-${TRACE}-${SPAN}-${flags}`));
    expect(wanted).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
    const ids = [wanted, unwanted].map((from) => (from === undefined ? "" : requestIdOfTrace(from)));

    expect(ids.map(traceOf)).toEqual([
      { traceId: TRACE, isSampled: true },
      { traceId: TRACE, isSampled: false },
    ]);
  });

  it("is derived from the request id if the caller sends no trace, with the same result in every process", () => {
    for (const id of ["order-4711", "0".repeat(32), TRACE.toUpperCase(), `${TRACE}-01`]) {
      const { traceId, isSampled } = traceOf(id);
      expect(traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
      expect([traceId, isSampled]).toEqual([traceOf(id).traceId, true]);
    }
    expect(submitSpanId("order-4711")).toMatch(/^[0-9a-f]{16}$/);
    expect(traceOf("order-4711").traceId).not.toBe(traceOf("order-4712").traceId);
  });

  it.each([
    undefined,
    "",
    ["a", "b"],
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
  ])("is not read from %j", (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });

  it("samples the configured share of its tasks, with the same decision in every process", () => {
    const tasks = Array.from({ length: 4_000 }, (_, nth) => taskSpan("j1", String(nth)));
    expect(new Set(tasks.map(({ spanId }) => spanId)).size).toBe(tasks.length);
    const quarter = tasks.filter(({ share }) => share < 0.25).length;

    expect(quarter).toBeGreaterThan(900);
    expect(quarter).toBeLessThan(1_100);
    expect(tasks.every(({ share }) => share < 1)).toBe(true);
  });
});
