/**
 * The web a fleet is let loose on: many small sites, each with limits and a temper of its own, the same for the same
 * options. What a faultless crawl brings home from it is known to the last count before it begins. Pure.
 */
import type { Ledger } from "../../../src/domain/job.ts";
import { seededRandom } from "../seeded-random.ts";

export type WebOptions = {
  sites: number;
  /** Pages of all sites together. */
  pages: number;
  /** How long the slowest sites take at the rate they allow: what keeps a fast fleet from ending before it was killed. */
  seconds: number;
  /** The first two numbers of the sites' addresses: `127.77`. */
  network: string;
  port: number;
  seed: number;
};

export type SiteLimits = { perSecond: number; perSite: number };

/** What kind of site it is: which of its limits a crawl runs into. */
export type Temper = "slow" | "steady" | "narrow" | "single" | "brisk";

export type SitePlan = SiteLimits & {
  /** `host:port`. */
  site: string;
  host: string;
  temper: Temper;
  pages: number;
  delayMs: { least: number; most: number };
};

export const DISALLOWED_PREFIX = "/private/";
export const ROBOTS = `User-agent: *\nDisallow: ${DISALLOWED_PREFIX}\n`;

/** Of every five pages, four are submitted and the fifth is only linked, from its own site and from the one before. */
const CYCLE = 5;
const LINKED_ONLY = 4;
const LINKS_HERE = 3;
const LINKS_NEXT_SITE = 2;

const QUICK_MS = { least: 2, most: 35 };
/** So slow that `perSite` runs out before the rate does; and not so slow that three kills in a row meet one page. */
const TARDY_MS = { least: 120, most: 220 };

/** Half of the sites are slow; the others come in turn. Rates of slow ones follow from `seconds`. */
const TEMPERS: readonly Temper[] = [
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

export function planWeb({ sites, pages, seconds, network, port }: WebOptions): SitePlan[] {
  return Array.from({ length: sites }, (_, index) => {
    const host = `${network}.${Math.floor(index / 250)}.${1 + (index % 250)}`;
    const temper = TEMPERS[index % TEMPERS.length] ?? "slow";
    const own = Math.floor(pages / sites) + (index < pages % sites ? 1 : 0);
    return { site: `${host}:${port}`, host, temper, pages: own, ...traitsOf(temper, own / seconds) };
  });
}

function traitsOf(temper: Temper, slowest: number): SiteLimits & Pick<SitePlan, "delayMs"> {
  // In whole requests a minute, so that the job can say it.
  const perSecond = Math.ceil(slowest * 60) / 60;
  switch (temper) {
    case "slow":
      return { perSecond, perSite: 4, delayMs: QUICK_MS };
    case "steady":
      return { perSecond: 2 * perSecond, perSite: 4, delayMs: QUICK_MS };
    case "narrow":
      return { perSecond: 20, perSite: 2, delayMs: TARDY_MS };
    case "single":
      return { perSecond: 10, perSite: 1, delayMs: TARDY_MS };
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

/** The page a path leads to; undefined if there is none. */
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

/** What the heading of a page says, and so what its record must. */
export function labelOf(site: string, number: number): string {
  return `${number} of ${site}`;
}

/** Every page of the web, by URL, with the heading it has. */
export function expectedPages(web: readonly SitePlan[]): Map<string, string> {
  const pages = web.flatMap((site) =>
    numbersOf(site).map((number) => [urlOf(site, number), labelOf(site.site, number)] as const),
  );
  return new Map(pages);
}

/** The ledger of a crawl that ended well: every number follows from the web, whatever order it was fetched in. */
export function expectedLedger(web: readonly SitePlan[]): Ledger {
  const submitted = submittedUrls(web).length;
  const links = web.flatMap((site, index) => numbersOf(site).flatMap((number) => linksOf(web, index, number)));
  const refused = links.filter((url) => url.includes(DISALLOWED_PREFIX)).length;
  const done = web.reduce((sum, { pages }) => sum + pages, 0);
  const ended = { queued: 0, delayed: 0, leased: 0, dead: 0, cancelled: 0 };
  const duplicate = submitted + links.length - done - refused;
  return { submitted, discovered: links.length, done, duplicate, refused, ...ended };
}

/** The job as submitted. Its URLs are shuffled, as a real list is. */
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
