/**
 * A site behind a login: CSRF token, session cookie, sessions that the site ends, a POST-only API with a cursor,
 * sitemaps, and a cookie wall. It checks the requests that it gets. Shares no code with src/.
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
  sessionRequests?: number;
  /** A session ends after this time of the site's clock `now`. */
  sessionMs?: number;
  now?: () => number;
  /** Whether the site ends a session at this moment. Called for each request of a session, with their number so far. */
  endsNow?: (requests: number) => boolean;
  /** Whether the first visit to a part of the site, such as /item, sets a cookie and redirects back. */
  hasWall?: boolean;
};

export type LoginSite = Origin & {
  /** Sessions that the site has created. */
  logins(): number;
  /** Sessions that the site has ended. */
  expired(): number;
  /** Requests for pages behind the login that had no session that the site knows. */
  anonymous(): string[];
  wrongPasswords(): number;
  /** Visits that the cookie wall redirected back. */
  walled(): number;
  /** Sessions that were created but requested no page. */
  unused(): number;
  /** Whether a login was started whose session has requested no page yet. */
  isLoginOpen(): boolean;
  /** Resolves when the next login starts. */
  waitForLogin(): Promise<void>;
};

type LiveSession = { requests: number; startedAt: number };

const PER_CALL = 10;

export async function startLoginSite(options: LoginSiteOptions): Promise<LoginSite> {
  const { user, password, items, hasWall = false, now = () => 0, endsNow = () => false } = options;
  const { sessionRequests = Number.POSITIVE_INFINITY, sessionMs = Number.POSITIVE_INFINITY } = options;
  const tokens = new Set<string>();
  const sessions = new Map<string, LiveSession>();
  const ended = new Set<string>();
  /** Sessions that have requested a page after the page that follows the login. */
  const used = new Set<string>();
  const anonymous: string[] = [];
  let [logins, wrong, walled] = [0, 0, 0];
  const waiting: (() => void)[] = [];
  let isLoginOpen = false;

  function loginPage(response: ServerResponse): void {
    isLoginOpen = true;
    for (const resolve of waiting.splice(0)) resolve();
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
    sessions.set(sid, { requests: 0, startedAt: now() });
    response.setHeader("set-cookie", [`sid=${sid}; Path=/; HttpOnly; SameSite=Lax`, "pre=; Path=/; Max-Age=0"]);
    response.writeHead(303, { location: "/home" }).end();
  }

  /** Whether the request has a live session. Ends sessions whose time is over. */
  function isLoggedIn(cookies: Map<string, string>, path: string): boolean {
    const sid = cookies.get("sid") ?? "";
    const session = sessions.get(sid);
    if (session === undefined) {
      if (!ended.has(sid)) anonymous.push(path);
      return false;
    }
    if (path !== "/home") {
      used.add(sid);
      isLoginOpen = false;
    }
    if (session.requests < sessionRequests && now() - session.startedAt < sessionMs && !endsNow(session.requests)) {
      session.requests += 1;
      return true;
    }
    sessions.delete(sid);
    ended.add(sid);
    return false;
  }

  /** Whether the cookie wall has answered. */
  function isWalled(request: IncomingMessage, cookies: Map<string, string>, response: ServerResponse): boolean {
    const [, part] = (request.url ?? "").split("/");
    if (!hasWall || request.method !== "GET" || cookies.get("wall") === part) return false;
    walled += 1;
    response.setHeader("set-cookie", `wall=${part}; Path=/${part}`);
    response.writeHead(302, { location: request.url ?? "/" }).end();
    return true;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? "";
    const cookies = cookiesOf(request);
    if (path === "/robots.txt") return void response.writeHead(404).end();
    if (path === "/login") {
      if (isWalled(request, cookies, response)) return;
      if (request.method === "POST") logIn(new URLSearchParams(body), cookies, response);
      else loginPage(response);
      return;
    }
    if (!isLoggedIn(cookies, path)) {
      if (path.startsWith("/api/")) return void response.writeHead(401).end();
      return void response.writeHead(302, { location: "/login" }).end();
    }
    if (isWalled(request, cookies, response)) return;
    if (path.startsWith("/forbidden")) return void response.writeHead(401).end();
    if (path === "/sitemap.xml") return xml(response, `<sitemapindex>${locOf("sitemap", "/items.xml")}</sitemapindex>`);
    if (path === "/items.xml") {
      const urls = Array.from({ length: items }, (_, id) => locOf("url", `/item/${id}`));
      return xml(response, `<urlset>${urls.join("")}</urlset>`);
    }
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
    walled: () => walled,
    unused: () => logins - used.size,
    isLoginOpen: () => isLoginOpen,
    waitForLogin: () => new Promise((resolve) => waiting.push(resolve)),
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
