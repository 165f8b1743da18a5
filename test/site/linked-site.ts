/**
 * A generated site of any size: the same options give the same site, and every page is reachable from `/`. Pages are
 * created on request and not kept in memory. Some links lead to a path that robots.txt disallows.
 */
import type { ServerResponse } from "node:http";
import { type Handler, type Origin, type OriginOptions, startOrigin } from "./origin.ts";

export type LinkedSiteOptions = {
  /** Number of pages, including `/`. */
  pages: number;
  /** Approximate links per page; at least 2. */
  linksPerPage: number;
  /** Approximate size of a page. */
  pageBytes: number;
  /** One page in this many has a disallowed link; 0 for none. */
  disallowedEvery: number;
  /** Delay of each page. */
  delayMs: number;
  seed: number;
};

export type LinkedSite = {
  handler: Handler;
  /** Paths that a crawl from `/` must fetch once: all except the disallowed ones. */
  expectedPaths(): string[];
  /** Linked paths that must never be fetched. */
  disallowedPaths(): string[];
};

export type RunningLinkedSite = Origin & {
  /** Absolute URLs of `expectedPaths`. */
  expectedPages(): string[];
  disallowedPages(): string[];
};

export const DISALLOWED_PREFIX = "/private/";

export const LINKED_SITE: LinkedSiteOptions = {
  pages: 200,
  linksPerPage: 8,
  pageBytes: 2_000,
  disallowedEvery: 5,
  delayMs: 0,
  seed: 1,
};

/** Serves a linked site. Defaults are in LINKED_SITE. */
export async function startLinkedSite(
  site: Partial<LinkedSiteOptions>,
  origin: OriginOptions = {},
): Promise<RunningLinkedSite> {
  const { handler, expectedPaths, disallowedPaths } = createLinkedSite({ ...LINKED_SITE, ...site });
  const running = await startOrigin(handler, origin);
  const absolute = (paths: string[]) => paths.map((path) => running.url + path);
  return {
    ...running,
    expectedPages: () => absolute(expectedPaths()),
    disallowedPages: () => absolute(disallowedPaths()),
  };
}

export function createLinkedSite(options: LinkedSiteOptions): LinkedSite {
  const { pages, disallowedEvery, delayMs } = options;
  const numbers = () => Array.from({ length: pages }, (_, number) => number);
  const hasDisallowed = (number: number) => disallowedEvery > 0 && number % disallowedEvery === 0;
  return {
    expectedPaths: () => numbers().map(pathOf),
    disallowedPaths: () => numbers().filter(hasDisallowed).map(disallowedPathOf),
    handler: async (request, response) => {
      const path = (request.url ?? "").replace(/\?.*$/, "");
      if (path === "/robots.txt") return send(response, 200, "text/plain", ROBOTS);
      if (path.startsWith(DISALLOWED_PREFIX)) return send(response, 200, "text/html", "<h1>Private</h1>");
      const number = numberOf(path, pages);
      if (number === undefined) return send(response, 404, "text/html", "<h1>Not here</h1>");
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      const extra = hasDisallowed(number) ? [disallowedPathOf(number)] : [];
      send(response, 200, "text/html", pageOf(number, [...linksOf(number, options).map(pathOf), ...extra], options));
    },
  };
}

const ROBOTS = `User-agent: *\nDisallow: ${DISALLOWED_PREFIX}\n`;

function pathOf(number: number): string {
  return number === 0 ? "/" : `/page/${number}`;
}

function disallowedPathOf(number: number): string {
  return `${DISALLOWED_PREFIX}${number}`;
}

function numberOf(path: string, pages: number): number | undefined {
  if (path === "/") return 0;
  const [, digits] = /^\/page\/([1-9]\d*)$/.exec(path) ?? [];
  return digits !== undefined && Number(digits) < pages ? Number(digits) : undefined;
}

/**
 * Half of the links of a page lead to its children in a tree of all pages, so every page is reachable. The other links
 * are random.
 */
function linksOf(number: number, { pages, linksPerPage, seed }: LinkedSiteOptions): number[] {
  const branches = Math.max(1, Math.floor(linksPerPage / 2));
  const children = Array.from({ length: branches }, (_, index) => number * branches + index + 1);
  const others = Array.from({ length: linksPerPage - branches }, (_, index) => mixed(seed, number, index) % pages);
  return [...children.filter((child) => child < pages), ...others];
}

/** A hash of three numbers. */
function mixed(seed: number, number: number, index: number): number {
  let h = Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca77) ^ Math.imul(index + 1, 0xc2b2ae3d);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}

function pageOf(number: number, links: readonly string[], { pageBytes }: LinkedSiteOptions): string {
  const anchors = links.map((link) => `<li><a href="${link}">${link}</a></li>`).join("\n");
  const text = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Page ${number}</title></head>
<body><h1>Page ${number}</h1><p class="number">${number}</p>
<ul>${anchors}</ul>
`;
  const phrase = `word${number} of some length, `;
  const filler = phrase.repeat(Math.max(0, Math.ceil((pageBytes - text.length) / phrase.length)));
  return `${text}<p>${filler}</p></body></html>\n`;
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    "content-type": `${type}; charset=utf-8`,
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}
