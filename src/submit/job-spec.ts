/** A job with every choice made: what workers read. Plain JSON, stored in the broker. */
import type { BrowserSpec } from "../domain/browser.ts";
import type { SitePolicy } from "../domain/politeness.ts";
import type { Routing, UrlRoute } from "../domain/route.ts";
import type { SiteGrouping } from "../domain/site.ts";
import type { TaskKind } from "../domain/task.ts";
import type { Rules } from "../extract/rules.ts";

export type FollowSpec = {
  /** CSS selector of the elements whose links are followed. */
  links: string;
  /** How far links may lead from the page they are on. */
  scope: "site" | "domain" | "any";
  include: readonly string[];
  exclude: readonly string[];
  maxDepth: number | undefined;
};

export type RecrawlSpec = {
  set: string;
  /** Which pages' records go out: of all, or only of those that have changed. */
  emit: "all" | "changed";
};

export type JobSpec = {
  id: string;
  /** Follows everything that came of one submission through logs and traces; the caller's own word, where it gave one. */
  requestId: string;
  name: string;
  /** The URLs it began with, where they are few; and a hash of them all, to know the same crawl again. */
  urls: readonly string[];
  urlCount: number;
  urlsHash: string;
  /** A module with handlers; undefined: the rules below do the work. */
  spider: string | undefined;
  follow: FollowSpec | undefined;
  extract: Rules | undefined;
  politeness: { policy: SitePolicy; robots: boolean; sites: Readonly<Record<string, SitePolicy>> };
  siteGrouping: SiteGrouping;
  retries: { max: number; backoffMs: number };
  limits: { pages: number | undefined; seconds: number | undefined; bodyBytes: number };
  queue: string;
  /** Where tasks wait that need a browser. */
  renderQueue: string;
  render: "never" | "auto" | "always";
  browser: BrowserSpec;
  priority: number;
  /** URLs that go elsewhere. */
  routes: readonly UrlRoute[];
  /** Pages are parsed by workers of this queue; undefined: by whoever fetched them. */
  parse: { queue: string } | undefined;
  headers: Readonly<Record<string, string>>;
  dedup: { scope: "job" } | { scope: string; expireAfterMs: number };
  keep: { bodies: boolean; pages: boolean; records: boolean };
  /** Pages are compared with what the set remembers of them; undefined: each crawl is the first. */
  recrawl?: RecrawlSpec;
  /** Hosts a person typed: their private addresses may be reached. */
  typedHosts: readonly string[];
  /** Where the records of a crawl go when it ends. */
  out: string | undefined;
  /** Whose it is, where the API has keys; nobody else's key sees it. */
  tenant?: string;
  /** The slot of a schedule that it came of. */
  slot?: { scheduleId: string; at: number };
  /** Of the request that made it, where that may be sent again. */
  bodyHash?: string;
};

/** How the pages of a job are fetched, unless something is known of them. */
export function kindOf({ render }: Pick<JobSpec, "render">): TaskKind {
  return render === "always" ? "render" : "fetch";
}

/** Where a task waits. In a job that renders only where needed, what needs it goes apart. */
export function queueFor(
  kind: TaskKind,
  { queue }: Pick<Routing, "queue">,
  { render, renderQueue }: Pick<JobSpec, "render" | "renderQueue">,
): string {
  return kind === "render" && render === "auto" ? renderQueue : queue;
}
