/**
 * The web server of the stage: several sites behind one port, distinguished by host name, with typical faults of real
 * sites. It keeps the access log that tests check request rates with.
 */
import type { ServerResponse } from "node:http";
import { createCatalogue } from "../../src/demo/catalogue.ts";
import { createRoutes } from "../../src/demo/routes.ts";
import { type Arrival, type Origin, startOrigin } from "../site/origin.ts";

export type StageWeb = Pick<Origin, "site" | "close"> & {
  /** The requests to one site in order of arrival, without robots.txt. */
  visitsOf(host: string): Arrival[];
  /** Adds a site, or replaces one. */
  serve(host: string, site: StageSite): void;
};

/** Returns the response for a path. */
export type StageSite = (path: string) => StageAnswer;
export type StageAnswer = { status: number; headers?: Record<string, string>; body: string | Buffer; delayMs?: number };

const BOOKS = 5_000;
const BOOKS_PER_SHELF = 40;
const NOT_FOUND: StageAnswer = plain(404, "not found");

export async function startStageWeb(): Promise<StageWeb> {
  const sites = new Map<string, StageSite>(Object.entries(SITES));
  const shop = createRoutes(createCatalogue(7), "http://shop.example");
  sites.set("shop.example", (path) => shop.answer(path.replace(/\?.*$/, "")));
  const origin = await startOrigin(({ url = "", headers: { host } }, response) => {
    send(response, sites.get(nameOf(host))?.(url) ?? NOT_FOUND);
  });
  return {
    site: origin.site,
    close: origin.close,
    visitsOf: (name) =>
      origin.log.filter(({ headers: { host }, path }) => nameOf(host) === name && path !== "/robots.txt"),
    serve: (name, site) => void sites.set(name, site),
  };
}

export function page(title: string, body: string): StageAnswer {
  const headers = { "content-type": "text/html; charset=utf-8", server: "stage" };
  return {
    status: 200,
    headers,
    body: `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`,
  };
}

const SITES: Readonly<Record<string, StageSite>> = {
  "books.example": books,
  "news.example": news,
  "archive.example": archive,
  "app.example": app,
  "weather.example": (path) =>
    path === "/robots.txt"
      ? plain(200, "User-agent: *\nCrawl-delay: 20\n")
      : page(`Weather at ${path}`, `<p class="wind">${path.length} knots</p>`),
  "closed.example": (path) => (path === "/robots.txt" ? plain(200, "User-agent: *\nDisallow: /\n") : NOT_FOUND),
};

/** A catalogue that is large enough to keep a fleet busy. */
function books(path: string): StageAnswer {
  const [, kind = "", number = ""] = /^\/(shelf|book)\/(\d+)/.exec(path) ?? [];
  const nth = Number(number);
  if (path === "/") return page("Books", links(range(1, BOOKS / BOOKS_PER_SHELF), "shelf"));
  if (kind === "shelf") {
    const first = (nth - 1) * BOOKS_PER_SHELF + 1;
    return page(`Shelf ${nth}`, links(range(first, first + BOOKS_PER_SHELF - 1), "book"));
  }
  if (kind !== "book") return NOT_FOUND;
  const [word = "", other = ""] = [THINGS[nth % THINGS.length], THINGS[(nth * 7 + 3) % THINGS.length]];
  const price = ((nth % 90) + 9.5).toFixed(2);
  const isbn = `978-0-${String(nth).padStart(6, "0")}`;
  const book = page(`The ${word} and the ${other}`, `<p class="price">£${price}</p><p class="isbn">${isbn}</p>`);
  return { ...book, delayMs: SLOW_MS[nth % SLOW_MS.length] ?? 0 };
}

const SLOW_MS = [80, 120, 90, 350, 140, 100, 700, 110];

const THINGS = [
  "harbour",
  "lighthouse",
  "anchor",
  "tide",
  "herring",
  "compass",
  "lantern",
  "gull",
  "keel",
  "net",
  "fog",
];

/** Responds with 429 to every fifth story. */
function news(path: string): StageAnswer {
  if (path === "/robots.txt") return NOT_FOUND;
  const nth = Number(/^\/story\/(\d+)/.exec(path)?.[1] ?? 0);
  if (nth > 0 && nth % 5 === 0) return { ...plain(429, "too many requests"), headers: { "retry-after": "600" } };
  return page(nth === 0 ? "News" : `Story ${nth}`, links(range(1, 60), "story"));
}

/** A site with many kinds of failures. */
function archive(path: string): StageAnswer {
  const [, kind = "", nth = ""] = /^\/(\w+)\/(\d+)/.exec(path) ?? [];
  if (kind === "paper") return page(`Paper ${nth}`, `<p class="year">${1900 + Number(nth)}</p>`);
  return FAILURES[kind]?.(Number(nth)) ?? NOT_FOUND;
}

const FAILURES: Readonly<Record<string, (nth: number) => StageAnswer>> = {
  broken: () => plain(500, "the database is down"),
  gone: () => plain(410, "gone for good"),
  locked: () => plain(403, "not for you"),
  loop: (nth) => ({ ...plain(302, ""), headers: { location: `/loop/${nth + 100}` } }),
  big: () => page("Big", "x".repeat(50_000)),
  garbage: () => ({ status: 200, headers: { "content-encoding": "gzip" }, body: "this was never compressed" }),
};

/** A page that is empty without JavaScript. */
function app(path: string): StageAnswer {
  if (path === "/robots.txt") return NOT_FOUND;
  const nth = Number(/^\/view\/(\d+)/.exec(path)?.[1] ?? 0);
  const script = `const root = document.getElementById("root");
root.innerHTML = '<h1 class="title">Harbour view ${nth}</h1><p>Wind from the west, ' + (${nth} * 3 + 4) + ' knots.</p>';
root.style.cssText = "font: 22px sans-serif; padding: 40px; background: linear-gradient(#cde9ee, #2b7a78); height: 500px";`;
  return page("Views", `<div id="root"></div><script>${script}</script>`);
}

function plain(status: number, body: string): StageAnswer {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}

function send(response: ServerResponse, { status, headers = {}, body, delayMs = 0 }: StageAnswer): void {
  setTimeout(() => response.writeHead(status, headers).end(body), delayMs);
}

function nameOf(host = ""): string {
  return host.replace(/:\d+$/, "");
}

function links(numbers: readonly number[], kind: string): string {
  return numbers.map((nth) => `<a href="/${kind}/${nth}">${kind} ${nth}</a>`).join("\n");
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
