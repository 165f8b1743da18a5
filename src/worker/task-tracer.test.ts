import { describe, expect, it } from "vitest";
import type { Grant } from "../frontier/frontier.ts";
import { NO_TRACING, type SpanEnd, type Tracing } from "../runtime/tracing.ts";
import type { JobPlan } from "./plan.ts";
import type { RunTaskDeps } from "./run-task.ts";
import { createTaskTracer } from "./task-tracer.ts";
import type { ToldResult } from "./teller.ts";

const GRANT = { jobId: "j1", taskId: "7", url: "http://a.test/", site: "a.test", kind: "fetch" } as Grant;
const PLAN = { spec: { requestId: "r1", retries: { max: 2 } } } as JobPlan;
const clock = { now: () => 1_000 };
const TIMES = { storeAt: 1_000, settleAt: 1_001, settledAt: 1_002 };

describe("what is told of a task to whoever records traces", () => {
  it("is nothing, and makes nothing, where nobody does", () => {
    const tracer = createTaskTracer({ tracing: NO_TRACING, clock });
    const traced = tracer.began(GRANT);
    traced.planned(PLAN);
    const [deps, result] = [{} as RunTaskDeps, {} as ToldResult];

    expect(tracer.began(GRANT)).toBe(traced);
    expect(traced.listenTo(deps)).toBe(deps);
    expect(traced.reading(PLAN)).toBe(PLAN);
    expect(traced.ended(result)).toBe(result);
  });

  it("names a browser's work and a webhook's delivery, and shows no more of an endpoint than its host", async () => {
    const { tracing, told } = recording();
    const grant = { ...GRANT, kind: "deliver", url: "https://hooks.test/s3cret#1", site: "hooks.test" } as Grant;
    const traced = createTaskTracer({ tracing, clock }).began(grant);
    traced.planned(PLAN);
    const page = { status: 200, bodyBytes: 5 };
    const refused = { kind: "retry", because: "not_accepted", status: 500 } as const;
    const deps = traced.listenTo({
      renderer: { fetch: async () => ({ kind: "page", page }), close: async () => {} },
      deliver: async () => ({ outcome: refused, site: { kind: "ok" } }),
    } as unknown as RunTaskDeps);
    const signal = new AbortController().signal;
    await deps.renderer.fetch({ url: "https://a.test/x" } as Parameters<RunTaskDeps["renderer"]["fetch"]>[0]);
    await deps.deliver(grant, signal);
    const settlement = { outcome: { kind: "done" }, tally: { records: 0 }, discovered: [] };
    traced.ended({ settlement, settled: () => {} } as unknown as ToldResult).settled(TIMES);

    expect(told.map(({ name }) => name)).toEqual(["lease", "render", "deliver", "store", "settle", "task"]);
    expect(told[1]).toMatchObject({ words: { "http.response.status_code": 200, "server.port": 443 } });
    expect(told[2]).toMatchObject({ failure: { kind: "not_accepted" }, words: { "server.address": "hooks.test" } });
    expect(JSON.stringify(told)).not.toContain("s3cret");
  });

  it("ends a task with the last of its tries, and not with a lease that was lost", () => {
    const retry = { kind: "retry", because: "timeout" } as const;
    const ends = [1, 2, 3].map((attempt) => {
      const { tracing, told } = recording();
      const traced = createTaskTracer({ tracing, clock }).began({ ...GRANT, attempt });
      traced.planned(PLAN);
      const settlement = { outcome: retry, tally: { records: 0 }, discovered: [] };
      const result = traced.ended({ settlement, settled: () => {} } as unknown as ToldResult);
      if (attempt === 1) result.lost?.(TIMES);
      else result.settled(TIMES);
      return told;
    });

    expect(ends.map((told) => told.some(({ name }) => name === "task"))).toEqual([false, false, true]);
    expect(ends[0]?.at(-1)).toMatchObject({ name: "settle", failure: { kind: "lease_lost" } });
    expect(ends[2]?.at(-1)).toMatchObject({ name: "task", failure: { kind: "timeout" } });
  });
});

type Told = SpanEnd & { name: string };

function recording(): { tracing: Tracing; told: Told[] } {
  const told: Told[] = [];
  const tracing: Tracing = {
    ...NO_TRACING,
    isOn: true,
    task: () => ({
      past: (name, over) => void told.push({ name, ...over }),
      end: (over) => void told.push({ name: "task", ...over }),
      async step(name, { words }, work, tell) {
        const result = await work();
        const end = tell(result);
        told.push({ name, ...end, words: { ...words, ...end.words } });
        return result;
      },
    }),
  };
  return { tracing, told };
}
