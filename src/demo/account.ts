/**
 * The parts of the demo shop that need more than a plain GET: an account behind a login with a CSRF token, a JSON API
 * with pagination by POST, another one with a key and a cursor, and a page behind a cookie wall. No page of the shop
 * links to them.
 */
import { randomBytes } from "node:crypto";
import type { Catalogue } from "./catalogue.ts";
import { html } from "./html.ts";
import { layout } from "./layout.ts";
import type { Answer } from "./routes.ts";

export type AccountRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  /** The header `x-api-key`. */
  apiKey: string;
  cookies: ReadonlyMap<string, string>;
  body: string;
};

type Account = {
  /** Undefined if the path belongs to another part of the shop. */
  answer(request: AccountRequest): Answer | undefined;
};

/** The user name and password of the demo account. */
const USER = "demo";
const PASSWORD = "harbour";
/** The key of the stock API. */
const API_KEY = "lighthouse";
const ORDERS = 12;
const PRODUCTS_PER_PAGE = 25;
const STOCKED = 60;
const STOCK_PER_PAGE = 20;
/** Larger request bodies are refused. */
export const MAX_BODY_BYTES = 65_536;

export function createAccount(catalogue: Catalogue, baseUrl: string): Account {
  const tokens = new Set<string>();
  const sessions = new Set<string>();

  function loginPage(): Answer {
    const token = randomBytes(12).toString("hex");
    tokens.add(token);
    const form = html`<form method="post"><input type="hidden" name="csrf" value="${token}">
<input name="user"><input name="password" type="password"><button>Log in</button></form>`;
    return withCookie(page("Log in", form), `form=${token}; Path=/account/; HttpOnly; SameSite=Lax`);
  }

  function logIn({ body, cookies }: AccountRequest): Answer {
    const fields = new URLSearchParams(body);
    const token = fields.get("csrf") ?? "";
    const isValid = tokens.delete(token) && cookies.get("form") === token;
    if (!isValid || fields.get("user") !== USER || fields.get("password") !== PASSWORD) {
      return page("Log in", html`<p class="error">The user name, the password or the token is wrong.</p>`, 403);
    }
    const session = randomBytes(12).toString("hex");
    sessions.add(session);
    return withCookie(redirect("/account/orders/"), `session=${session}; Path=/account/; HttpOnly; SameSite=Lax`);
  }

  function orders(): Answer {
    const links = Array.from(
      { length: ORDERS },
      (_, nth) => html`<li><a href="/account/orders/${nth + 1}/">Order ${nth + 1}</a></li>`,
    );
    return page("Orders", html`<ul class="orders">${links}</ul>`);
  }

  function order(nth: number): Answer | undefined {
    const product = catalogue.products[nth * 7];
    if (product === undefined || nth < 1 || nth > ORDERS) return undefined;
    return page(
      `Order ${nth}`,
      html`<p class="product">${product.name}</p><p class="total">${product.pricePence / 100}</p>`,
    );
  }

  function account(request: AccountRequest): Answer | undefined {
    const { method, path, cookies } = request;
    if (path === "/account/login/") return method === "POST" ? logIn(request) : loginPage();
    if (!sessions.has(cookies.get("session") ?? "")) return redirect("/account/login/");
    if (path === "/account/orders/") return orders();
    const [, nth] = /^\/account\/orders\/(\d+)\/$/.exec(path) ?? [];
    return nth === undefined ? undefined : order(Number(nth));
  }

  /** `{ "page": 2 }` returns the second page of products, and the number of the next page or null. */
  function products({ method, body }: AccountRequest): Answer {
    if (method !== "POST") return { ...json({ error: "use POST" }, 405), headers: { allow: "POST" } };
    const number = pageIn(body);
    if (number === undefined) return json({ error: 'send JSON such as { "page": 1 }' }, 400);
    const from = (number - 1) * PRODUCTS_PER_PAGE;
    const shown = catalogue.products.slice(from, from + PRODUCTS_PER_PAGE);
    const nextPage = from + PRODUCTS_PER_PAGE < catalogue.products.length ? number + 1 : null;
    return json({
      products: shown.map(({ id, name, pricePence }) => ({ id, name, price: pricePence / 100 })),
      nextPage,
    });
  }

  /** `/api/stock` lists ids and the cursor of the next list, or null. `/api/stock/101` returns one entry. */
  function stock({ path, query, apiKey }: AccountRequest): Answer | undefined {
    if (apiKey !== API_KEY) return json({ error: "send the header x-api-key" }, 401);
    const stocked = catalogue.products.slice(0, STOCKED);
    if (path === "/api/stock") {
      const from = Number(Buffer.from(query.get("cursor") ?? "", "base64url").toString() || 0);
      const to = from + STOCK_PER_PAGE;
      const next = to < stocked.length ? Buffer.from(String(to)).toString("base64url") : null;
      return json({ ids: stocked.slice(from, to).map(({ id }) => id), next });
    }
    const product = stocked.find(({ id }) => path === `/api/stock/${id}`);
    return product === undefined ? undefined : json({ id: product.id, name: product.name, pieces: product.id % 40 });
  }

  function members({ path, cookies }: AccountRequest): Answer {
    if (cookies.get("consent") === "1") return page("Members", html`<p>Offers for members only.</p>`);
    return withCookie(redirect(path), "consent=1; Path=/members/");
  }

  function page(title: string, main: ReturnType<typeof html>, status = 200): Answer {
    const canonical = `${baseUrl}/account/`;
    const text = layout({ title, description: title, canonical, main: html`<h1>${title}</h1>${main}` });
    return answerOf(status, "text/html; charset=utf-8", text);
  }

  return {
    answer(request) {
      if (request.path.startsWith("/account/")) return account(request);
      if (request.path === "/api/products") return products(request);
      if (/^\/api\/stock(\/|$)/.test(request.path)) return stock(request);
      return request.path === "/members/" ? members(request) : undefined;
    },
  };
}

/** The number of the requested page; undefined if the body is invalid. */
function pageIn(body: string): number | undefined {
  try {
    const { page = 1 } = JSON.parse(body) as { page?: unknown };
    return Number.isInteger(page) && (page as number) > 0 ? (page as number) : undefined;
  } catch {
    return undefined;
  }
}

function json(value: unknown, status = 200): Answer {
  return answerOf(status, "application/json", JSON.stringify(value));
}

function redirect(location: string): Answer {
  const answer = answerOf(303, "text/plain; charset=utf-8", `see ${location}\n`);
  return { ...answer, headers: { ...answer.headers, location } };
}

function withCookie(answer: Answer, cookie: string): Answer {
  return { ...answer, headers: { ...answer.headers, "set-cookie": cookie } };
}

function answerOf(status: number, contentType: string, body: string): Answer {
  return {
    status,
    headers: { "content-type": contentType },
    body: Buffer.from(body),
    delayMs: 0,
    isCompressible: false,
  };
}
