import { describe, expect, it } from "vitest";
import { aJobSpec } from "../../../test/submit/a-job-spec.ts";
import { emptyLedger, type Ledger } from "../../domain/job.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { jobOut } from "./job.ts";

const BEGUN_AT = 1_000_000;

function aJob(counts: Partial<Ledger>, more: Partial<JobView> = {}): JobView {
  return {
    id: "j1",
    name: "shop",
    state: "running",
    sealed: true,
    queue: "fetch",
    priority: 5,
    policy: { intervalMs: 0, burst: 1, perSite: 1 },
    limits: { pages: undefined, deadlineAt: undefined },
    createdAt: BEGUN_AT,
    finishedAt: undefined,
    counts: { ...emptyLedger(), ...counts },
    tally: { pages: counts.done ?? 0, records: 0, invalid: 0, bytes: 0 },
    spec: aJobSpec(),
    ...more,
  };
}

function paceOf(job: JobView, atSecond: number): { rate: number | null; etaSeconds: number | null } {
  const { rate, etaSeconds } = jobOut(job, BEGUN_AT + atSecond * 1000);
  return { rate, etaSeconds };
}

describe("the rate and time left of a job", () => {
  it("are the pages per second, and the remaining time at that rate", () => {
    expect(paceOf(aJob({ done: 20, queued: 30, leased: 10 }), 10)).toEqual({ rate: 2, etaSeconds: 20 });
  });

  it("count dead letters as ended tasks, but not as pages", () => {
    expect(paceOf(aJob({ done: 10, dead: 10, queued: 20 }), 10)).toEqual({ rate: 1, etaSeconds: 10 });
  });

  it("do not depend on links that were refused when they were found", () => {
    expect(paceOf(aJob({ done: 10, refused: 5000, queued: 10 }), 10)).toEqual({ rate: 1, etaSeconds: 10 });
  });

  it.each([
    ["is paused", aJob({ done: 10, queued: 10 }, { state: "paused" }), 1],
    ["has no page yet", aJob({ queued: 10 }), 0],
    ["may get more URLs", aJob({ done: 10, queued: 10 }, { sealed: false }), 1],
    ["has nothing left", aJob({ done: 10 }), 1],
  ])("include no time left if the job %s", (_, job, rate) => {
    expect(paceOf(job, 10)).toEqual({ rate, etaSeconds: null });
  });

  it("are unknown at the time of submission", () => {
    expect(paceOf(aJob({ queued: 1 }), 0)).toEqual({ rate: null, etaSeconds: null });
  });

  it("do not change after the job has ended", () => {
    const job = aJob({ done: 10 }, { state: "finished", finishedAt: BEGUN_AT + 5000 });

    expect(paceOf(job, 1000)).toEqual({ rate: 2, etaSeconds: null });
  });
});
