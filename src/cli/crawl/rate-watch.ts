/**
 * Watches the rates of the sites of a crawl, for its progress and its report. Detects rates that another job or an
 * operator sets, and rates that are lowered because of the responses of the site.
 */
import { siteRules } from "../../domain/site-rules.ts";
import { rateSetter } from "../../frontier/explain.ts";
import type { FrontierAdmin } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Service } from "../../runtime/service.ts";

type Deps = { frontier: Pick<FrontierAdmin, "listJobSites" | "findSite">; clock: Clock };

type RateWatch = Service & {
  /** One sentence per site, with the last state that was seen. */
  notes(): readonly string[];
  /** The rule that delays the busiest site now. Undefined if there is none. */
  current(): string | undefined;
};

/** The interval doubles after each check, because a check may read many jobs. */
const FIRST_CHECK_MS = 1_000;
const MAX_INTERVAL_MS = 30_000;
/** How many sites are listed, and how many of them are checked: those with the most waiting URLs. */
const SITES_LISTED = 500;
const SITES_CHECKED = 3;

export function createRateWatch({ frontier, clock }: Deps, jobId: string): RateWatch {
  const stopping = new AbortController();
  const found = new Map<string, string>();
  let now: string | undefined;
  let loop: Promise<void> | undefined;

  async function check(): Promise<void> {
    const sites = (await frontier.listJobSites(jobId, SITES_LISTED)).filter(({ waiting }) => waiting > 0);
    const busiest = sites.toSorted((one, other) => other.waiting - one.waiting).slice(0, SITES_CHECKED);
    now = undefined;
    for (const { site } of busiest) {
      const detail = await frontier.findSite(site);
      if (detail === undefined) continue;
      // The notes leave out a backoff, because it is over when the report is read.
      const rules = siteRules({ ...detail, blockedUntil: 0, incidents: 0 }, clock.now());
      const [rule] = siteRules(detail, clock.now());
      if (rule !== undefined) now ??= `${site}: ${rule}`;
      const texts = [...rateSetter(detail, { id: jobId }, "all"), ...rules];
      if (texts.length > 0) found.set(site, texts.join("; "));
    }
  }

  async function checkUntilStopped(): Promise<void> {
    for (let waitMs = FIRST_CHECK_MS; ; waitMs = Math.min(waitMs * 2, MAX_INTERVAL_MS)) {
      await clock.sleep(waitMs, stopping.signal);
      if (stopping.signal.aborted) return;
      // An error is ignored here, because the workers of the crawl report a lost broker.
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
    current: () => now,
    notes: () => [...found].map(([site, text]) => `${site}: ${text}`).slice(0, SITES_CHECKED),
  };
}
