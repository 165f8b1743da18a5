/** Fetches one page with robots.txt, redirects and rendering, without a broker. */
import type { Config } from "../../config/schema.ts";
import { createSecretResolver } from "../../config/secret-reference.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import { requestAfterRedirect, type TaskRequest } from "../../domain/request.ts";
import { originOf, siteOf } from "../../domain/site.ts";
import { needsBrowser } from "../../extract/needs-browser.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import { decodeBody } from "../../fetch/http/charset.ts";
import { readEntry } from "../../submit/url-entry.ts";
import { exitsOf, headersOf, profilesOf } from "../../worker/task/make-plan.ts";
import { type OwnFetching, openOwnFetching } from "../own-fetching.ts";

export type TriedPage = {
  hops: readonly string[];
  isRendered: boolean;
  outcome: Exclude<FetchOutcome, { kind: "redirect" | "unchanged" }>;
  text: string;
  charset: string;
};

/** `entry`: the URL, or a request as JSON. */
type TryRequest = { spec: JobSpec; entry: string; keepsTab: boolean };

/** Fetches the page and calls `use` with it. The tab of a rendered page stays open until `use` has resolved. */
export async function tryPage<T>(
  config: Config,
  request: TryRequest,
  use: (tried: TriedPage) => Promise<T>,
): Promise<T> {
  const fetching = openOwnFetching(config, request.spec.typedHosts);
  try {
    const tried = await fetchPage(config, request, fetching);
    return await use(tried).finally(() => (tried.outcome.kind === "page" ? tried.outcome.open?.close() : undefined));
  } finally {
    await fetching.close();
  }
}

async function fetchPage(
  config: Config,
  { spec, entry, keepsTab }: TryRequest,
  { fetcher, renderer, robots }: Pick<OwnFetching, "fetcher" | "renderer" | "robots">,
): Promise<TriedPage> {
  const signal = new AbortController().signal;
  const { totalMs, idleMs, redirects } = config;
  const limits = { totalMs, idleMs, bodyBytes: spec.limits.bodyBytes };
  const headersFor = headersOf(spec, createSecretResolver("all"));
  const hops: string[] = [];
  const start = readEntry(entry);
  let request: TaskRequest | undefined = "request" in start ? start.request : undefined;
  for (let url = start.url, isRendered = spec.render === "always"; ; ) {
    const site = siteOf(url, spec.siteGrouping);
    const rules = spec.politeness.robots ? await robots.rulesAt(url, site) : undefined;
    if (rules?.kind === "unreachable")
      return noPage(hops, { kind: "retry", because: "robots_unreachable", detail: rules.detail });
    if (rules !== undefined && !rules.allows(url)) {
      return noPage(hops, {
        kind: "dead",
        because: "http_status",
        detail: "robots.txt disallows it; use --ignore-robots to fetch it anyway",
      });
    }
    const outcome = await (isRendered ? renderer : fetcher).fetch({
      url,
      site,
      limits,
      ...(request === undefined
        ? {}
        : { method: request.method, ...(request.body === undefined ? {} : { body: request.body }) }),
      headers: headersFor({ url, request, depth: 0, redirects: hops.length }),
      profile: profilesOf(spec)?.(site, undefined),
      exits: exitsOf(spec),
      signal,
      show: { browser: spec.browser, keepsTab },
    });
    if (outcome.kind === "page") {
      const found = decoded(outcome.body, outcome.page.contentType);
      if (isRendered || spec.render !== "auto" || !needsBrowser(found.text)) {
        return { hops, outcome, isRendered, ...found };
      }
      isRendered = true;
      continue;
    }
    if (outcome.kind === "unchanged") throw new Error(`${url}: unchanged without a conditional request`);
    if (outcome.kind !== "redirect") return noPage(hops, outcome);
    if (hops.length === redirects) {
      const detail = `stopped after ${redirects} redirects; the next one is to ${outcome.to}`;
      return noPage(hops, { kind: "dead", because: "redirect_loop", detail });
    }
    hops.push(outcome.to);
    request = requestAfterRedirect(request, outcome.page.status, originOf(outcome.to) === originOf(url));
    url = outcome.to;
  }
}

function noPage(hops: readonly string[], outcome: TriedPage["outcome"]): TriedPage {
  return { hops, outcome, isRendered: false, text: "", charset: "" };
}

function decoded(body: Buffer, contentType: string | undefined): { text: string; charset: string } {
  return decodeBody(body, contentType);
}
