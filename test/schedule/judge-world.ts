/**
 * Compares the occurrences of a simulation with the wall clock and with the jobs in the broker, and lists the
 * differences.
 */
import type { JobView } from "../../src/frontier/frontier-admin.ts";
import type { Occurrence } from "../../src/store/schedule-store.ts";
import { occurrencesByWall } from "./oracle.ts";
import { GRACE_MS, type Outcome } from "./world.ts";

export type Verdict = { problems: string[]; expected: number; fired: number; missed: number; overlapped: number };

export function judgeWorld({ planned, polls, jobs, occurrences }: Outcome, startAt: number, endAt: number): Verdict {
  const verdict: Verdict = { problems: [], expected: 0, fired: 0, missed: 0, overlapped: 0 };
  const jobsOf = groupBy(jobs, ({ spec }) => spec.slot?.scheduleId);
  for (const { schedule, written, overlap, catchUp, maxCatchUp } of planned) {
    const own = jobsOf.get(schedule.id) ?? [];
    const seen = polls.get(schedule.id) ?? [];
    // Up to the last poll: catch-up fires the newest missed occurrences, and these may be after `endAt`.
    const wall = occurrencesByWall(written(schedule.createdAt), startAt, Math.max(endAt, seen.at(-1) ?? endAt));
    const limit = { skip: 0, one: 1, all: maxCatchUp }[catchUp];
    const judged = classify(wall, seen, limit);
    const [due, missed] = [judged.due, judged.missed].map((all) => all.filter((at) => at <= endAt)) as [
      number[],
      number[],
    ];
    const fired = own.map(occurrenceAtOf).sort((one, other) => one - other);
    const kept = occurrences.get(schedule.id) ?? [];
    const overlapped = kept.filter(({ because }) => because === "overlap").map(({ at }) => at);
    const report = (text: string) =>
      verdict.problems.push(`${schedule.id} ${JSON.stringify(schedule.timing)}: ${text}`);

    const twice = fired.filter((at, index) => fired[index - 1] === at);
    if (twice.length > 0) report(`fired twice: ${times(twice)}`);
    const accounted = [...fired, ...overlapped].sort((one, other) => one - other);
    if (String(accounted) !== String(due)) {
      report(`due were ${times(due)}; fired ${times(fired)}, skipped for overlap ${times(overlapped)}`);
    }
    if (overlap !== "skip" && overlapped.length > 0) report(`${overlap}, but skipped: ${times(overlapped)}`);
    for (const occurrence of kept.filter(({ because }) => because === "overlap")) {
      if (!own.some((job) => isOverlapping(job, occurrence)))
        report(`no job overlapped with ${times([occurrence.at])}`);
    }
    const dropped = kept.filter(({ because }) => because === "missed").map(({ at }) => at);
    if (String(dropped.reverse()) !== String(missed)) report(`missed ${times(missed)}, recorded ${times(dropped)}`);
    for (const problem of runProblems(own)) report(problem);
    verdict.expected += due.length;
    verdict.fired += fired.length;
    verdict.missed += missed.length;
    verdict.overlapped += overlapped.length;
  }
  return verdict;
}

/** An occurrence is missed if the first poll after it is later than the grace time. */
function classify(wall: readonly number[], polls: readonly number[], limit: number) {
  const due: number[] = [];
  const missed: number[] = [];
  const byPoll = groupBy(wall, (at) => polls.find((poll) => poll >= at));
  for (const [poll = Number.POSITIVE_INFINITY, found] of byPoll) {
    const late = found.filter((at) => at < poll - GRACE_MS);
    const dropped = new Set(late.slice(0, Math.max(0, late.length - limit)));
    for (const at of found) (dropped.has(at) ? missed : due).push(at);
  }
  return { due, missed };
}

function isOverlapping(job: JobView, occurrence: Occurrence): boolean {
  const { createdAt, finishedAt = Number.POSITIVE_INFINITY } = job;
  return occurrenceAtOf(job) < occurrence.at && createdAt <= (occurrence.endedAt ?? 0) && finishedAt >= occurrence.at;
}

/** Each job has its URL once, is sealed, and does not overlap another job of its schedule. */
function runProblems(own: readonly JobView[]): string[] {
  const problems = own.flatMap(({ id, counts, sealed }) => {
    const urls = counts.submitted - counts.duplicate;
    return urls === 1 && sealed ? [] : [`job ${id} has ${urls} URLs, ${sealed ? "" : "not "}sealed`];
  });
  const runs = [...own].sort((one, other) => occurrenceAtOf(one) - occurrenceAtOf(other));
  runs.forEach((job, index) => {
    const before = runs[index - 1];
    if (before === undefined) return;
    if ((before.finishedAt ?? Number.POSITIVE_INFINITY) > job.createdAt) {
      problems.push(
        `the run of ${times([occurrenceAtOf(job)])} began before that of ${times([occurrenceAtOf(before)])} was over`,
      );
    }
  });
  return problems;
}

function occurrenceAtOf({ spec }: JobView): number {
  return spec.slot?.at ?? 0;
}

function times(instants: readonly number[]): string {
  return instants.map((at) => new Date(at).toISOString().slice(11, 19)).join(" ") || "none";
}

function groupBy<T, K>(all: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
