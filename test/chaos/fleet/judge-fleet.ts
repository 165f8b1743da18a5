/**
 * Judges what a fleet did from what lies outside of Trawl: the sites' own log, the records as a user finds them, and what
 * the command line says of the job. Pure, and without a line in common with src/.
 */
import { duplicates, missing } from "../../site/loss-checker.ts";
import type { Visit } from "./fleet-log.ts";
import { type Figures, judgePoliteness, type Politeness } from "./judge-politeness.ts";
import { type Deaths, judgeRepeats, type Repeats } from "./judge-repeats.ts";
import { DISALLOWED_PREFIX, expectedLedger, expectedPages, numberOf, type SitePlan } from "./sites.ts";

export type FleetRecord = { _url: string; label?: unknown };

/** What `trawl job ID --json` prints. */
export type JobSummary = { state: string; counts: Record<string, number>; tally: Record<string, number> };

export type FleetEvidence = Deaths & {
  web: readonly SitePlan[];
  visits: readonly Visit[];
  records: readonly FleetRecord[];
  job: JobSummary;
  /** URLs that were given up on because their worker died three times, and queued again by hand. */
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
      ...givenUpProblems(evidence),
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
    ...counted(missing(urls, expected.keys()), "records nobody asked for"),
    ...counted([...duplicates(urls).keys()], "pages have more than one record"),
    ...counted(
      wrong.map((record) => JSON.stringify(record)),
      "records are not what their page says",
    ),
  ];
}

/** Every number of the ledger follows from the web: it is right to the last count, or wrong. */
function ledgerProblems({ web, job: { state, counts, tally } }: FleetEvidence): string[] {
  const expected: Record<string, number> = expectedLedger(web);
  const wrong = Object.keys({ ...expected, ...counts }).filter((name) => counts[name] !== expected[name]);
  const words = wrong.map((name) => `${name} ${counts[name]} instead of ${expected[name]}`);
  const { submitted = 0, discovered = 0, ...rest } = counts;
  const ended = Object.values(rest).reduce((sum, count) => sum + count, 0);
  const { pages, records, invalid } = tally;
  const tallyIsRight = pages === expected.done && records === expected.done && invalid === 0;
  return [
    ...(state === "finished" ? [] : [`the job is ${state}, not finished`]),
    ...(wrong.length === 0 ? [] : [`the ledger is wrong: ${words.join(", ")}`]),
    ...(submitted + discovered === ended ? [] : [`the ledger does not balance: ${JSON.stringify(counts)}`]),
    ...(tallyIsRight ? [] : [`the tally is wrong: ${JSON.stringify(tally)} of ${expected.done} pages`]),
  ];
}

/** Each of them takes three deaths of a worker that had it. */
function givenUpProblems({ replayed, kills, concurrency }: FleetEvidence): string[] {
  const most = Math.floor((kills.length * concurrency) / 3);
  return replayed <= most ? [] : [`${replayed} URLs were given up on; ${kills.length} kills explain ${most}`];
}

function visitProblems({ web, visits }: FleetEvidence): string[] {
  const plans = new Map(web.map((plan) => [plan.site, plan]));
  const forbidden = visits.filter(({ path }) => path.startsWith(DISALLOWED_PREFIX));
  const strange = visits.filter(({ site, path }) => {
    const plan = plans.get(site);
    const isPage = plan !== undefined && numberOf(path, plan) !== undefined;
    return !isPage && path !== "/robots.txt" && !path.startsWith(DISALLOWED_PREFIX);
  });
  const asked = visits.map(({ site, path }) => `http://${site}${path}`);
  return [
    ...counted(
      forbidden.map(({ site, path }) => site + path),
      "requests that robots.txt disallows",
    ),
    ...counted(
      strange.map(({ site, path }) => site + path),
      "requests for what no page links to",
    ),
    ...counted(missing(expectedPages(web).keys(), asked), "pages were never asked for"),
  ];
}

function counted(found: readonly string[], words: string): string[] {
  return found.length === 0 ? [] : [`${found.length} ${words}, such as ${found[0]}`];
}
