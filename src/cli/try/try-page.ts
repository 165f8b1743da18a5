/** Fetches one page for a person at a terminal: robots.txt, redirects and all, on an allowance of its own. */
import { createFetching } from "../../compose-worker.ts";
import type { Config } from "../../config/schema.ts";
import { takeSlot } from "../../domain/politeness.ts";
import { siteOf } from "../../domain/site.ts";
import { needsBrowser } from "../../extract/needs-browser.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import { decodeBody } from "../../fetch/http/charset.ts";
import type { RobotsFile } from "../../frontier/frontier.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { headersOf } from "../../worker/make-plan.ts";
import { createWorkerMeter } from "../../worker/worker-meter.ts";

export type TriedPage = {
  hops: readonly string[];
  isRendered: boolean;
  outcome: Exclude<FetchOutcome, { kind: "redirect" | "unchanged" }>;
  text: string;
  charset: string;
};

export async function tryPage(config: Config, spec: JobSpec, startUrl: string): Promise<TriedPage> {
  const clock = systemClock();
  const { fetcher, renderer, robots, allowance, close } = createFetching(config, {
    allowHosts: spec.typedHosts,
    clock,
    log: createLog("silent", () => {}),
    frontier: ownAllowance(config, clock.now),
    meter: createWorkerMeter(), // nobody asks
  });
  const signal = new AbortController().signal;
  const { totalMs, idleMs, redirects } = config;
  const limits = { totalMs, idleMs, bodyBytes: spec.limits.bodyBytes };
  const headersFor = headersOf(spec);
  const hops: string[] = [];
  try {
    for (let url = startUrl, isRendered = spec.render === "always"; ; ) {
      const site = siteOf(url, spec.siteGrouping);
      const rules = spec.politeness.robots ? await robots.rulesAt(url, site) : undefined;
      if (rules?.kind === "unreachable")
        return noPage(hops, { kind: "retry", because: "robots_unreachable", detail: rules.detail });
      if (rules !== undefined && !rules.allows(url)) {
        return noPage(hops, {
          kind: "dead",
          because: "http_status",
          detail: "robots.txt disallows it; --ignore-robots fetches it all the same",
        });
      }
      const outcome = await (isRendered ? renderer : fetcher).fetch({
        url,
        site,
        slot: await allowance.spend(site),
        limits,
        headers: headersFor(url),
        signal,
        show: { browser: spec.browser, keepsTab: false },
      });
      if (outcome.kind === "page") {
        const found = decoded(outcome.body, outcome.page.contentType);
        if (isRendered || spec.render !== "auto" || !needsBrowser(found.text)) {
          return { hops, outcome, isRendered, ...found };
        }
        isRendered = true;
        continue;
      }
      if (outcome.kind === "unchanged") throw new Error(`${url}: nobody asked whether it has changed`);
      if (outcome.kind !== "redirect") return noPage(hops, outcome);
      if (hops.length === redirects) {
        const detail = `${redirects} redirects, now to ${outcome.to}`;
        return noPage(hops, { kind: "dead", because: "redirect_loop", detail });
      }
      hops.push(outcome.to);
      url = outcome.to;
    }
  } finally {
    await close();
  }
}

function noPage(hops: readonly string[], outcome: TriedPage["outcome"]): TriedPage {
  return { hops, outcome, isRendered: false, text: "", charset: "" };
}

function decoded(body: Buffer, contentType: string | undefined): { text: string; charset: string } {
  return decodeBody(body, contentType);
}

/** One page needs no broker: its few requests are spaced here. */
function ownAllowance(config: Config, now: () => number) {
  const policy = { intervalMs: config.rate, burst: config.burst, perSite: config.perSite };
  const arrivals = new Map<string, number>();
  const robots = new Map<string, RobotsFile>();
  return {
    async spend(site: string) {
      const slot = takeSlot(now(), arrivals.get(site) ?? 0, policy);
      arrivals.set(site, slot.arrivalAt);
      return slot;
    },
    findRobots: async (site: string) => robots.get(site),
    keepRobots: async (site: string, file: RobotsFile) => void robots.set(site, file),
  };
}
