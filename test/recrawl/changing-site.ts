/**
 * A site whose pages change, appear and disappear between crawls, with its own log and its own handling of conditional
 * requests. Shares no code with src/.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Origin, startOrigin } from "../site/origin.ts";

export type ChangingPage = {
  title: string;
  links?: readonly string[];
  /** The validator that it sends; default: `etag`. */
  by?: "etag" | "weak" | "date" | "nothing" | Answer;
};

/** A handler for one page. */
export type Answer = (request: IncomingMessage, response: ServerResponse, html: string) => void;

/** One logged request for a page. */
export type Visit = {
  path: string;
  etag: string | undefined;
  since: string | undefined;
  status: number;
  /** Size of the body that was sent. */
  bytes: number;
};

export type ChangingSite = {
  url: string;
  /** Pages by path. Change them to change the site. */
  pages: Map<string, ChangingPage>;
  /** Requests since the last call, without robots.txt. */
  takeVisits(): Visit[];
  origin: Origin;
};

const LONG_AGO = Date.parse("2020-01-01T00:00:00Z");

export async function startChangingSite(pages: Record<string, ChangingPage>): Promise<ChangingSite> {
  const known = new Map(Object.entries(pages));
  let visits: Visit[] = [];
  const origin = await startOrigin((request, response) => {
    const path = request.url ?? "";
    if (path === "/robots.txt") return void response.writeHead(404).end();
    const { "if-none-match": etag, "if-modified-since": since } = request.headers;
    const visit: Visit = { path, etag, since, status: 0, bytes: 0 };
    visits.push(visit);
    const end = response.end.bind(response);
    response.end = ((body?: string) => {
      Object.assign(visit, { status: response.statusCode, bytes: Buffer.byteLength(body ?? "") });
      return end(body);
    }) as typeof response.end;
    const page = known.get(path);
    if (page === undefined) return void response.writeHead(404).end("gone");
    const html = htmlOf(page);
    const { by = "etag" } = page;
    if (typeof by === "function") return by(request, response, html);
    const validator = validatorOf(by, html);
    for (const [name, value] of Object.entries(validator)) response.setHeader(name, value);
    const isSame =
      (validator.etag !== undefined && etag === validator.etag) ||
      (validator["last-modified"] !== undefined &&
        since !== undefined &&
        Date.parse(validator["last-modified"]) <= Date.parse(since));
    response.writeHead(isSame ? 304 : 200, isSame ? {} : { "content-type": "text/html" });
    response.end(isSame ? undefined : html);
  });
  return {
    ...{ url: origin.url, pages: known, origin },
    takeVisits() {
      const taken = visits;
      visits = [];
      return taken;
    },
  };
}

function htmlOf({ title, links = [] }: ChangingPage): string {
  const anchors = links.map((href) => `<a href="${href}">on</a>`).join("");
  return `<!doctype html><title>x</title><h1>${title}</h1>${anchors}<p>${"words ".repeat(200)}</p>`;
}

function validatorOf(by: Exclude<ChangingPage["by"], Answer | undefined>, html: string): Record<string, string> {
  const version = [...html].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1_000_003, 7);
  if (by === "nothing") return {};
  if (by === "date") return { "last-modified": new Date(LONG_AGO + version * 1000).toUTCString() };
  return { etag: by === "weak" ? `W/"${version}"` : `"${version}"` };
}
