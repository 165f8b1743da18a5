/** Detects that another job or an operator sets the rate of a site while a crawl runs, so that the report can say so. */
import { rateSetter } from "../../frontier/explain.ts";
import type { FrontierAdmin } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Service } from "../../runtime/service.ts";

type Deps = { frontier: Pick<FrontierAdmin, "listJobSites" | "findSite">; clock: Clock };

type RateWatch = Service & {
  /** One sentence per site, with the last state that was seen. */
  notes(): readonly string[];
};

/** The interval doubles after each check, because a check may read many jobs. */
const FIRST_CHECK_MS = 1_000;
const MAX_INTERVAL_MS = 30_000;
/** Sites that are listed, and sites with the most waiting URLs that are checked. */
const SITES_LISTED = 500;
const SITES_CHECKED = 3;

export function createRateWatch({ frontier, clock }: Deps, jobId: string): RateWatch {
  const stopping = new AbortController();
  const found = new Map<string, string>();
  let loop: Promise<void> | undefined;

  async function check(): Promise<void> {
    const sites = (await frontier.listJobSites(jobId, SITES_LISTED)).filter(({ waiting }) => waiting > 0);
    const busiest = sites.toSorted((one, other) => other.waiting - one.waiting).slice(0, SITES_CHECKED);
    for (const { site } of busiest) {
      const detail = await frontier.findSite(site);
      const [text] = detail === undefined ? [] : rateSetter(detail, { id: jobId }, "all");
      if (text !== undefined) found.set(site, text);
    }
  }

  async function checkUntilStopped(): Promise<void> {
    for (let waitMs = FIRST_CHECK_MS; ; waitMs = Math.min(waitMs * 2, MAX_INTERVAL_MS)) {
      await clock.sleep(waitMs, stopping.signal);
      if (stopping.signal.aborted) return;
      // The workers of the crawl report a lost broker.
      await check().catch(() => {});
    }
  }

  return {
    start: () => {
      loop ??= checkUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
    notes: () => [...found].map(([site, text]) => `${site}: ${text}`).slice(0, SITES_CHECKED),
  };
}
