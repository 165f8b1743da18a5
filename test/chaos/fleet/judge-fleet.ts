/**
 * Judges the run of a fleet from the outside: by the log of the sites, the exported records, and the job as the command
 * line prints it. The judge is pure and shares no code with src/.
 */
import { duplicates, missing } from "../../site/loss-checker.ts";
import type { Visit } from "./fleet-log.ts";
import { type Figures, judgePoliteness, type Politeness } from "./judge-politeness.ts";
import { type Disruptions, judgeRepeats, type Repeats } from "./judge-repeats.ts";
import { DISALLOWED_PREFIX, expectedLedger, expectedPages, numberOf, type SitePlan } from "./sites.ts";

export type FleetRecord = { _url: string; label?: unknown };

/** What `trawl job ID --json` prints. */
export type JobSummary = { state: string; counts: Record<string, number>; tally: Record<string, number> };

export type FleetEvidence = Disruptions & {
  web: readonly SitePlan[];
  visits: readonly Visit[];
  records: readonly FleetRecord[];
  job: JobSummary;
  /** The number of URLs that failed because three workers had died with them, and that were then replayed. */
  replayed: number;
};

export type FleetVerdict = Figures &
  Politeness &
  Repeats & { problems: string[]; visits: number; records: number; dead: number; replayed: number };

export function judgeFleet(evidence: FleetEvidence): FleetVerdict {
  const { web, visits, records, job } = evidence;
  const politeness = judgePoliteness(web, visits);
  const repeats = judgeRepeats(visits, evidence);
  return {
    ...politeness,
    ...repeats,
    visits: visits.length,
    records: records.length,
    dead: job.counts.dead ?? 0,
    replayed: evidence.replayed,
    problems: [
      ...recordProblems(evidence),
      ...ledgerProblems(evidence),
      ...replayProblems(evidence),
      ...visitProblems(evidence),
      ...politeness.problems,
      ...repeats.problems,
    ],
  };
}

function recordProblems({ web, records }: FleetEvidence): string[] {
  const expected = expectedPages(web);
  const urls = records.map(({ _url }) => _url);
  const wrong = records.filter(({ _url, label }) => expected.has(_url) && expected.get(_url) !== label);
  return [
    ...counted(missing(expected.keys(), urls), "pages are lost: they have no record"),
    ...counted(missing(urls, expected.keys()), "records of unknown pages"),
    ...counted([...duplicates(urls).keys()], "pages have more than one record"),
    ...counted(
      wrong.map((record) => JSON.stringify(record)),
      "records differ from their page",
    ),
  ];
}

/** The sites determine every number of the ledger, so each number must be exact. */
function ledgerProblems({ web, job: { state, counts, tally } }: FleetEvidence): string[] {
  const expected: Record<string, number> = expectedLedger(web);
  const wrong = Object.keys({ ...expected, ...counts }).filter((name) => counts[name] !== expected[name]);
  const differences = wrong.map((name) => `${name} ${counts[name]} instead of ${expected[name]}`);
  const { submitted = 0, discovered = 0, ...rest } = counts;
  const accounted = Object.values(rest).reduce((sum, count) => sum + count, 0);
  const { pages, records, invalid } = tally;
  const tallyIsRight = pages === expected.done && records === expected.done && invalid === 0;
  return [
    ...(state === "finished" ? [] : [`the job is ${state}, not finished`]),
    ...(wrong.length === 0 ? [] : [`the ledger is wrong: ${differences.join(", ")}`]),
    ...(submitted + discovered === accounted ? [] : [`the ledger does not balance: ${JSON.stringify(counts)}`]),
    ...(tallyIsRight ? [] : [`the tally is wrong: ${JSON.stringify(tally)} of ${expected.done} pages`]),
  ];
}

/** A URL fails only after three workers have died with it. */
function replayProblems({ replayed, kills, concurrency }: FleetEvidence): string[] {
  const max = Math.floor((kills.length * concurrency) / 3);
  return replayed <= max ? [] : [`${replayed} URLs failed; ${kills.length} kills explain ${max}`];
}

function visitProblems({ web, visits }: FleetEvidence): string[] {
  const plans = new Map(web.map((plan) => [plan.site, plan]));
  const forbidden = visits.filter(({ path }) => path.startsWith(DISALLOWED_PREFIX));
  const unknown = visits.filter(({ site, path }) => {
    const plan = plans.get(site);
    const isPage = plan !== undefined && numberOf(path, plan) !== undefined;
    return !isPage && path !== "/robots.txt" && !path.startsWith(DISALLOWED_PREFIX);
  });
  const requested = visits.map(({ site, path }) => `http://${site}${path}`);
  return [
    ...counted(
      forbidden.map(({ site, path }) => site + path),
      "requests that robots.txt disallows",
    ),
    ...counted(
      unknown.map(({ site, path }) => site + path),
      "requests for unknown pages",
    ),
    ...counted(missing(expectedPages(web).keys(), requested), "pages were never requested"),
  ];
}

function counted(found: readonly string[], what: string): string[] {
  return found.length === 0 ? [] : [`${found.length} ${what}, such as ${found[0]}`];
}
