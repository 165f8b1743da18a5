import { describe, expect, it } from "vitest";
import type { Grant } from "../../frontier/frontier.ts";
import { NO_TRACING, type SpanEnd, type Tracing } from "../../runtime/tracing.ts";
import type { JobPlan } from "../task/plan.ts";
import type { Attempt, SettledAttempt, StepResults } from "./task-observer.ts";
import { createTaskTracer } from "./task-tracer.ts";

const GRANT = { jobId: "j1", taskId: "7", url: "http://a.test/", site: "a.test", kind: "fetch" } as Grant;
const PLAN = { spec: { requestId: "r1" } } as JobPlan;
const TIMES = { storeAt: 1_000, settleAt: 1_001, settledAt: 1_002 };

describe("the tracer of tasks", () => {
  it("subscribes to nothing if tracing is off", () => {
    expect(createTaskTracer(NO_TRACING)).toEqual({});
  });

  it("records rendering and delivery, and only the host of a webhook", async () => {
    const { tracing, spans } = recording();
    const grant = { ...GRANT, kind: "deliver", url: "https://hooks.test/s3cret#1", site: "hooks.test" } as Grant;
    const tracer = createTaskTracer(tracing);
    const attempt = anAttempt(grant);
    tracer.planned?.(attempt);
    const page = { status: 200, bodyBytes: 5 };
    const rendered = { kind: "page", page } as StepResults["render"];
    const refused = { kind: "retry", because: "not_accepted", status: 500 } as const;
    await tracer.trace?.(attempt, "render", "https://a.test/x", async () => rendered);
    await tracer.trace?.(attempt, "deliver", grant.site, async () => ({ outcome: refused, site: { kind: "ok" } }));
    tracer.settled?.(attempt, settledAs("done", { kind: "done" }));

    expect(spans.map(({ name }) => name)).toEqual(["lease", "render", "deliver", "store", "settle", "task"]);
    expect(spans[1]).toMatchObject({ attributes: { "http.response.status_code": 200, "server.port": 443 } });
    expect(spans[2]).toMatchObject({
      failure: { kind: "not_accepted" },
      attributes: { "server.address": "hooks.test" },
    });
    expect(JSON.stringify(spans)).not.toContain("s3cret");
  });

  it("ends the task with its last attempt, and not with a lost lease", () => {
    const retry = { kind: "retry", because: "timeout" } as const;
    const [lost, retried, dead] = (["lost", "retry", "dead"] as const).map((end) => {
      const { tracing, spans } = recording();
      const tracer = createTaskTracer(tracing);
      const attempt = anAttempt(GRANT);
      tracer.planned?.(attempt);
      if (end === "lost") tracer.lost?.(attempt, settledAs("retry", retry));
      else tracer.settled?.(attempt, settledAs(end, retry));
      return spans;
    });

    expect(lost?.at(-1)).toMatchObject({ name: "settle", failure: { kind: "lease_lost" } });
    expect(retried?.some(({ name }) => name === "task")).toBe(false);
    expect(dead?.at(-1)).toMatchObject({ name: "task", failure: { kind: "timeout" } });
  });
});

function anAttempt(grant: Grant): Attempt {
  return { grant, isAlone: false, leasedAt: 1_000, plan: PLAN, endedAt: 1_000 };
}

function settledAs(state: SettledAttempt["state"], outcome: SettledAttempt["settlement"]["outcome"]): SettledAttempt {
  const settlement = { outcome, tally: { records: 0 }, discovered: [] } as unknown as SettledAttempt["settlement"];
  return { settlement, state, times: TIMES };
}

type RecordedSpan = SpanEnd & { name: string };

function recording(): { tracing: Tracing; spans: RecordedSpan[] } {
  const spans: RecordedSpan[] = [];
  const tracing: Tracing = {
    ...NO_TRACING,
    isOn: true,
    task: () => ({
      past: (name, over) => void spans.push({ name, ...over }),
      end: (over) => void spans.push({ name: "task", ...over }),
      async step(name, { attributes }, work, endOf) {
        const result = await work();
        const end = endOf(result);
        spans.push({ name, ...end, attributes: { ...attributes, ...end.attributes } });
        return result;
      },
    }),
  };
  return { tracing, spans };
}
