/** Formats the report of a fleet run: lines of text, and the rows of the table. */
import { maxExcessMs } from "./judge-politeness.ts";
import type { FleetProgress, FleetRun } from "./run-fleet.ts";

export function progressLine({ seconds, visits, kills, brokerKills }: FleetProgress): string {
  return `${seconds.toFixed(0).padStart(4)} s  ${visits} requests, ${kills} workers killed, broker killed ${brokerKills} times`;
}

/** One row per kind of site: its limits, and the worst values of any such site. */
export function politenessRows({ worst }: FleetRun): Record<string, Record<string, string | number>> {
  const rows = Object.entries(worst).map(([kind, found]) => {
    const { sites, visits, perSecond, perSite, excessMs, loggedExcessMs, maxAtOnce, fastestPerSecond } = found;
    return [
      kind,
      {
        sites,
        requests: visits,
        "allowed, 1/s": Number(perSecond.toFixed(2)),
        "fastest, 1/s": Number(fastestPerSecond.toFixed(2)),
        "worst excess, ms": Number(excessMs.toFixed(1)),
        "as logged": Number(loggedExcessMs.toFixed(1)),
        "tolerated, ms": Number(maxExcessMs(perSecond).toFixed(1)),
        "at once, allowed": perSite,
        "at once, most": maxAtOnce,
      },
    ] as const;
  });
  return Object.fromEntries(rows);
}

export function verdictLines(run: FleetRun): string[] {
  const {
    seconds,
    visits,
    records,
    kills,
    brokerKills,
    repeated,
    maxOfOneKill,
    unexplained,
    dead,
    replayed,
    problems,
  } = run;
  return [
    `${visits} requests in ${seconds.toFixed(1)} s (${(visits / seconds).toFixed(0)}/s), ${kills} workers killed, broker killed ${brokerKills} times`,
    `${records} records, ${dead} dead letters (${replayed} replayed: their worker died three times), ${repeated} requests repeated (${maxOfOneKill} because of the worst kill, ${unexplained} unexplained)`,
    ...problems.slice(0, 40).map((problem) => `PROBLEM: ${problem}`),
    problems.length === 0 ? "ok" : `${problems.length} problems, seed ${run.seed}`,
  ];
}
