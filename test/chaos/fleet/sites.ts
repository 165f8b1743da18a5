/**
 * The sites that a fleet crawls: many small sites of several kinds, each with its own limits. The same options yield
 * the same sites. The result of a correct crawl is known exactly before the crawl starts. Pure.
 */
import type { Ledger } from "../../../src/domain/job.ts";
import { seededRandom } from "../seeded-random.ts";

export type WebOptions = {
  sites: number;
  /** Pages of all sites together. */
  pages: number;
  /** How long the slowest sites take at the rate they allow. This keeps a fast fleet from ending before all kills. */
  seconds: number;
  /** The first two numbers of the addresses of all sites: `127.77`. */
  sitePrefix: string;
  port: number;
  seed: number;
};

export type SiteLimits = { perSecond: number; perSite: number };

/** The kind of a site determines which of its limits a crawl reaches. */
export type SiteKind = "slow" | "steady" | "narrow" | "single" | "brisk";

export type SitePlan = SiteLimits & {
  /** `host:port`. */
  site: string;
  host: string;
  kind: SiteKind;
  pages: number;
  delayMs: { least: number; max: number };
};

export const DISALLOWED_PREFIX = "/private/";
export const ROBOTS = `User-agent: *\nDisallow: ${DISALLOWED_PREFIX}\n`;

/** Of every five pages, four are submitted. The fifth is only linked, from its own site and from the previous site. */
const CYCLE = 5;
const LINKED_ONLY = 4;
const LINKS_HERE = 3;
const LINKS_NEXT_SITE = 2;

const QUICK_MS = { least: 2, max: 35 };
/**
 * Slow enough that the crawl reaches `perSite` before the rate; quick enough that a page is rarely hit by three kills.
 */
const SLOW_MS = { least: 120, max: 220 };

/** Half of the sites are slow, and the other kinds alternate. The rate of a slow site follows from `seconds`. */
const KINDS: readonly SiteKind[] = [
  "slow",
  "steady",
  "slow",
  "narrow",
  "slow",
  "single",
  "slow",
  "steady",
  "slow",
  "brisk",
];

export function planWeb({ sites, pages, seconds, sitePrefix, port }: WebOptions): SitePlan[] {
  return Array.from({ length: sites }, (_, index) => {
    const host = `${sitePrefix}.${Math.floor(index / 250)}.${1 + (index % 250)}`;
    const kind = KINDS[index % KINDS.length] ?? "slow";
    const own = Math.floor(pages / sites) + (index < pages % sites ? 1 : 0);
    return { site: `${host}:${port}`, host, kind, pages: own, ...traitsOf(kind, own / seconds) };
  });
}

function traitsOf(kind: SiteKind, slowest: number): SiteLimits & Pick<SitePlan, "delayMs"> {
  // A whole number of requests per minute, because the job states the rate in that unit.
  const perSecond = Math.ceil(slowest * 60) / 60;
  switch (kind) {
    case "slow":
      return { perSecond, perSite: 4, delayMs: QUICK_MS };
    case "steady":
      return { perSecond: 2 * perSecond, perSite: 4, delayMs: QUICK_MS };
    case "narrow":
      return { perSecond: 20, perSite: 2, delayMs: SLOW_MS };
    case "single":
      return { perSecond: 10, perSite: 1, delayMs: SLOW_MS };
    case "brisk":
      return { perSecond: 50, perSite: 4, delayMs: QUICK_MS };
  }
}

export function urlOf({ site }: Pick<SitePlan, "site">, number: number): string {
  return `http://${site}${pathOf(number)}`;
}

export function pathOf(number: number): string {
  return `/page/${number}`;
}

/** The number of the page at a path; undefined if there is no such page. */
export function numberOf(path: string, { pages }: Pick<SitePlan, "pages">): number | undefined {
  const [, digits] = /^\/page\/(0|[1-9]\d*)$/.exec(path) ?? [];
  return digits !== undefined && Number(digits) < pages ? Number(digits) : undefined;
}

/** Absolute URLs that page `number` of the site at `index` links to, each once. */
export function linksOf(web: readonly SitePlan[], index: number, number: number): string[] {
  const here = web[index];
  const next = web[(index + 1) % web.length];
  if (here === undefined || next === undefined) return [];
  if (number % CYCLE === LINKS_HERE) {
    const child = number + LINKED_ONLY - LINKS_HERE;
    return [
      ...(child < here.pages ? [urlOf(here, child)] : []),
      urlOf(here, 0),
      `http://${here.site}${DISALLOWED_PREFIX}${number}`,
    ];
  }
  const child = number + LINKED_ONLY - LINKS_NEXT_SITE;
  return number % CYCLE === LINKS_NEXT_SITE && next !== here && child < next.pages ? [urlOf(next, child)] : [];
}

export function htmlOf(web: readonly SitePlan[], index: number, number: number): string {
  const site = web[index]?.site ?? "";
  const anchors = linksOf(web, index, number).map((url) => `<li><a href="${url}">${url}</a></li>`);
  const filler = `<p>${`word${number} of some length, `.repeat(40)}</p>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${labelOf(site, number)}</title></head>
<body><h1>${labelOf(site, number)}</h1><ul>${anchors.join("\n")}</ul>${filler}</body></html>\n`;
}

/** The heading of a page, which its record must contain. */
export function labelOf(site: string, number: number): string {
  return `${number} of ${site}`;
}

/** The URL of every page -> its heading. */
export function expectedPages(web: readonly SitePlan[]): Map<string, string> {
  const pages = web.flatMap((site) =>
    numbersOf(site).map((number) => [urlOf(site, number), labelOf(site.site, number)] as const),
  );
  return new Map(pages);
}

/** The ledger of a successful crawl. The sites determine every number; the order of the fetches does not matter. */
export function expectedLedger(web: readonly SitePlan[]): Ledger {
  const submitted = submittedUrls(web).length;
  const links = web.flatMap((site, index) => numbersOf(site).flatMap((number) => linksOf(web, index, number)));
  const refused = links.filter((url) => url.includes(DISALLOWED_PREFIX)).length;
  const done = web.reduce((sum, { pages }) => sum + pages, 0);
  const ended = { queued: 0, delayed: 0, leased: 0, dead: 0, cancelled: 0 };
  const duplicate = submitted + links.length - done - refused;
  return { submitted, discovered: links.length, done, duplicate, refused, ...ended };
}

/** The job to submit. Its URLs are shuffled, because real lists are not sorted by site. */
export function jobOf(web: readonly SitePlan[], seed: number): Record<string, unknown> {
  const sites = web.map(({ site, perSecond, perSite }) => [
    site,
    { rate: `${Math.round(perSecond * 60)}/m`, burst: 1, perSite },
  ]);
  return {
    name: "fleet",
    urls: shuffled(submittedUrls(web), seed),
    follow: { scope: "any" },
    extract: { label: "h1" },
    politeness: { rate: "1/s", burst: 1, perSite: 1, robots: true, sites: Object.fromEntries(sites) },
    keep: { bodies: false, pages: false, records: true },
  };
}

function submittedUrls(web: readonly SitePlan[]): string[] {
  return web.flatMap((site) =>
    numbersOf(site)
      .filter((number) => number % CYCLE !== LINKED_ONLY)
      .map((number) => urlOf(site, number)),
  );
}

function numbersOf({ pages }: SitePlan): number[] {
  return Array.from({ length: pages }, (_, number) => number);
}

function shuffled(urls: string[], seed: number): string[] {
  const random = seededRandom(seed);
  for (let last = urls.length - 1; last > 0; last--) {
    const other = random.between(0, last);
    [urls[last], urls[other]] = [urls[other] ?? "", urls[last] ?? ""];
  }
  return urls;
}
