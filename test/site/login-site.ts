/**
 * A site behind a login: CSRF token, session cookie, sessions that the site ends, a POST-only API with a cursor, sitemaps,
 * and a cookie wall. It judges the requests that it gets. Shares no code with src/.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Origin, startOrigin } from "./origin.ts";

export type LoginSiteOptions = {
  user: string;
  password: string;
  /** Number of items of the API, 10 per call. */
  items: number;
  /** A session ends after this many requests. */
  sessionRequests: number;
};

export type LoginSite = Origin & {
  /** Sessions that the site has created. */
  logins(): number;
  /** Sessions that the site has ended. */
  expired(): number;
  /** Requests for pages behind the login that had no session that the site knows. */
  anonymous(): string[];
  wrongPasswords(): number;
};

const PER_CALL = 10;

export async function startLoginSite({ user, password, items, sessionRequests }: LoginSiteOptions): Promise<LoginSite> {
  const tokens = new Set<string>();
  const sessions = new Map<string, number>();
  const ended = new Set<string>();
  const anonymous: string[] = [];
  let [logins, wrong] = [0, 0];

  function loginPage(response: ServerResponse): void {
    const token = randomBytes(8).toString("hex");
    tokens.add(token);
    response.setHeader("set-cookie", [`pre=${token}; Path=/; HttpOnly`]);
    html(response, `<form method="post"><input name="csrf" value="${token}"><input name="user"></form>`);
  }

  function logIn(fields: URLSearchParams, cookies: Map<string, string>, response: ServerResponse): void {
    const token = fields.get("csrf") ?? "";
    const isValid = tokens.delete(token) && cookies.get("pre") === token;
    if (!isValid || fields.get("user") !== user || fields.get("password") !== password) {
      wrong += 1;
      html(response, '<p class="error">wrong</p>');
      return;
    }
    logins += 1;
    const sid = randomBytes(8).toString("hex");
    sessions.set(sid, 0);
    response.setHeader("set-cookie", [`sid=${sid}; Path=/; HttpOnly; SameSite=Lax`, "pre=; Path=/; Max-Age=0"]);
    response.writeHead(303, { location: "/home" }).end();
  }

  /** Whether the request has a live session. Ends sessions that have had enough requests. */
  function isLoggedIn(cookies: Map<string, string>, path: string): boolean {
    const sid = cookies.get("sid") ?? "";
    const uses = sessions.get(sid);
    if (uses === undefined) {
      if (!ended.has(sid)) anonymous.push(path);
      return false;
    }
    if (uses < sessionRequests) {
      sessions.set(sid, uses + 1);
      return true;
    }
    sessions.delete(sid);
    ended.add(sid);
    return false;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? "";
    const cookies = cookiesOf(request);
    if (path === "/robots.txt") return void response.writeHead(404).end();
    if (path === "/login") {
      if (request.method === "POST") logIn(new URLSearchParams(body), cookies, response);
      else loginPage(response);
      return;
    }
    if (!isLoggedIn(cookies, path)) {
      if (path.startsWith("/api/")) return void response.writeHead(401).end();
      return void response.writeHead(302, { location: "/login" }).end();
    }
    if (path === "/sitemap.xml") return xml(response, `<sitemapindex>${locOf("sitemap", "/items.xml")}</sitemapindex>`);
    if (path === "/items.xml") {
      const urls = Array.from({ length: items }, (_, id) => locOf("url", `/item/${id}`));
      return xml(response, `<urlset>${urls.join("")}</urlset>`);
    }
    if (path === "/forbidden") return void response.writeHead(401).end();
    if (path === "/home") return html(response, "<h1>home</h1>");
    if (path === "/api/items" && request.method === "POST") {
      const { cursor = 0 } = JSON.parse(body) as { cursor?: number };
      const ids = Array.from({ length: Math.min(PER_CALL, items - cursor) }, (_, nth) => cursor + nth);
      const next = cursor + PER_CALL < items ? cursor + PER_CALL : null;
      response.setHeader("content-type", "application/json");
      return void response.end(JSON.stringify({ ids, next }));
    }
    const [, id] = /^\/item\/(\d+)$/.exec(path) ?? [];
    if (id !== undefined) return html(response, `<h1>item ${id}</h1>`);
    response.writeHead(404).end();
  }

  const origin = await startOrigin(handle);
  return {
    ...origin,
    logins: () => logins,
    expired: () => ended.size,
    anonymous: () => anonymous,
    wrongPasswords: () => wrong,
  };
}

function locOf(element: string, path: string): string {
  return `<${element}><loc>${path}</loc></${element}>`;
}

function xml(response: ServerResponse, body: string): void {
  response.setHeader("content-type", "application/xml");
  response.end(body);
}

function html(response: ServerResponse, body: string): void {
  response.setHeader("content-type", "text/html");
  response.end(body);
}

function cookiesOf({ headers }: IncomingMessage): Map<string, string> {
  const pairs = (headers.cookie ?? "").split("; ").map((pair) => pair.split("=") as [string, string]);
  return new Map(pairs);
}
