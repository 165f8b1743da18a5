/** Runs every topic of the contract on one backend, and records which clauses have tests there. */
import { afterEach, describe, expect, it } from "vitest";
import { FRONTIER_CLAUSES } from "../../../src/frontier/frontier.ts";
import { adaptiveRate } from "./adaptive-rate.ts";
import type { Backend, Features, Gap, Suite } from "./backend.ts";
import { backpressure } from "./backpressure.ts";
import { bounds } from "./bounds.ts";
import { control } from "./control.ts";
import { deadLetters } from "./dead-letters.ts";
import { dedup } from "./dedup.ts";
import { explaining } from "./explain.ts";
import { fairness } from "./fairness.ts";
import { forgettingJobs } from "./forget.ts";
import { jobSites } from "./job-sites.ts";
import { jobs } from "./jobs.ts";
import { leasesAndCrashes } from "./leases-and-crashes.ts";
import { leasing } from "./leasing.ts";
import { ledger } from "./ledger.ts";
import { politeness } from "./politeness.ts";
import { presence } from "./presence.ts";
import { requests } from "./requests.ts";
import { retries } from "./retries.ts";
import { robots } from "./robots.ts";
import { schema } from "./schema.ts";
import { scriptedSites } from "./scripted-sites.ts";
import { settling } from "./settling.ts";
import { sharedValues } from "./shared-values.ts";
import { siteBackoff } from "./site-backoff.ts";
import { siteListing } from "./site-listing.ts";
import { suspects } from "./suspects.ts";
import { terms } from "./terms.ts";

const TOPICS: readonly ((suite: Suite) => void)[] = [
  leasing,
  politeness,
  terms,
  siteBackoff,
  adaptiveRate,
  siteListing,
  robots,
  scriptedSites,
  sharedValues,
  fairness,
  leasesAndCrashes,
  suspects,
  settling,
  dedup,
  requests,
  ledger,
  jobs,
  jobSites,
  control,
  backpressure,
  retries,
  deadLetters,
  explaining,
  forgettingJobs,
  presence,
  bounds,
  schema,
];

/** The clauses that have tests on one backend, and those that are declared gaps, with the reason. */
export type Coverage = { name: string; tested: Set<string>; gaps: Map<string, string> };

export function describeFrontier(name: string, backend: Backend): Coverage {
  const coverage: Coverage = { name, tested: new Set(), gaps: new Map() };
  describe(`frontier contract on ${name}`, () => {
    afterEach(() => backend.cleanUp());
    const suite = createSuite(backend, coverage);
    for (const topic of TOPICS) topic(suite);
  });
  return coverage;
}

/** Every clause has a test or a declared gap, and none has both. */
export function expectCovered({ name, tested, gaps }: Coverage): void {
  const missing = FRONTIER_CLAUSES.filter((clause) => !tested.has(clause) && !gaps.has(clause));
  expect(missing, `clauses without a test on ${name}`).toEqual([]);
  const unnecessary = [...gaps.keys()].filter((clause) => tested.has(clause));
  expect(unnecessary, `clauses that are declared as a gap on ${name} but have a test`).toEqual([]);
}

function createSuite(backend: Backend, { tested, gaps }: Coverage): Suite {
  const test: Suite["test"] = (name, run) => {
    tested.add(clauseOf(name));
    it(name, run);
  };
  return {
    open: (options) => backend.open({ maxPending: 1_000_000, ...options }),
    test,
    testWith(feature, name, run) {
      const has = backend.features[feature] as Features[typeof feature] | Gap;
      if (!("gap" in has)) return test(name, () => run(has));
      for (const clause of has.clauses) gaps.set(clause, has.gap);
      it.skip(`${name} (${has.gap})`);
    },
  };
}

function clauseOf(name: string): string {
  const clause = name.slice(0, name.indexOf(" "));
  if ((FRONTIER_CLAUSES as readonly string[]).includes(clause)) return clause;
  throw new Error(`the test "${name}" does not start with a clause of the frontier`);
}
