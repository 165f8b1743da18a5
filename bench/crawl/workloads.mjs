/** The crawls that are measured. */

const UNLIMITED = { rate: "unlimited" };

/**
 * `pages` is the number of pages per site. `intervalMs` is the interval of the rate per site; without it, the rate is
 * unlimited. `unlimited` names the same crawl without a rate, whose speed limits what can be reached.
 */
export const WORKLOADS = {
  one: { title: "one site, unlimited", sites: 1, pages: 4_000, kind: "mixed", ...UNLIMITED },
  "one-text": { title: "one site of text-heavy pages, unlimited", sites: 1, pages: 4_000, kind: "text", ...UNLIMITED },
  "one-300": { title: "one site at 300/s", sites: 1, pages: 4_000, kind: "mixed", ...limit(300), unlimited: "one" },
  "one-1000": {
    title: "one site at 1,000/s",
    sites: 1,
    pages: 4_000,
    kind: "mixed",
    ...limit(1_000),
    unlimited: "one",
  },
  many: { title: "250 sites, unlimited", sites: 250, pages: 41, kind: "mixed", ...UNLIMITED },
  "many-text": { title: "250 sites of text-heavy pages, unlimited", sites: 250, pages: 41, kind: "text", ...UNLIMITED },
  "many-4": { title: "250 sites at 4/s each", sites: 250, pages: 41, kind: "mixed", ...limit(4), unlimited: "many" },
  "many-10": { title: "250 sites at 10/s each", sites: 250, pages: 41, kind: "mixed", ...limit(10), unlimited: "many" },
  "few-4": { title: "20 sites at 4/s each", sites: 20, pages: 41, kind: "mixed", ...limit(4), unlimited: "few" },
  few: { title: "20 sites, unlimited", sites: 20, pages: 41, kind: "mixed", ...UNLIMITED },
};

/** The limits of a crawl, the same for every contestant. With many sites, they are the defaults of Trawl. */
export function limitsOf({ sites }) {
  return sites === 1 ? { concurrency: 64, perSite: 64 } : { concurrency: 100, perSite: 4 };
}

/** The workload with another number of pages in total, at least 2 per site. */
export function resize(workload, totalPages) {
  return totalPages === undefined
    ? workload
    : { ...workload, pages: Math.max(2, Math.round(totalPages / workload.sites)) };
}

function limit(perSecond) {
  return { rate: `${perSecond}/s`, intervalMs: 1_000 / perSecond };
}
