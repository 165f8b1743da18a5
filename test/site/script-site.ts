/**
 * A site that needs JavaScript: each page is an empty shell whose script fetches the content. The script of `/loop`
 * never ends, and that of `/crash` crashes the renderer.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Origin, type OriginOptions, startOrigin } from "./origin.ts";

export type ScriptSiteOptions = {
  /** Pages `/p/1` to `/p/N`, all linked from `/`. */
  pages: number;
};

export const SCRIPT_SITE: ScriptSiteOptions = { pages: 20 };

const PRODUCTS = /^\/api\/(\d+)$/;
const PAGES = /^\/p\/(\d+)$/;

/** `/crash` nests elements so deeply that their layout overflows the stack of the renderer. */
const CALLS: Readonly<Record<string, string>> = { "/": "list()", "/loop": "endless()", "/crash": "crash()" };

/** The title of `/p/N` after rendering. */
export function titleOf(nth: number): string {
  return `Product ${nth} of many`;
}

export async function startScriptSite(site: Partial<ScriptSiteOptions>, origin: OriginOptions = {}): Promise<Origin> {
  const { pages } = { ...SCRIPT_SITE, ...site };
  return startOrigin((request, response) => answer(request, response, pages), origin);
}

function answer({ url = "" }: IncomingMessage, response: ServerResponse, pages: number): void {
  const { pathname } = new URL(url, "http://a.test");
  const [type, body] = contentAt(pathname, pages) ?? [];
  if (type === undefined) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": type }).end(body);
}

function contentAt(path: string, pages: number): [type: string, body: string] | undefined {
  const productId = PRODUCTS.exec(path)?.[1];
  if (productId !== undefined) return ["application/json", JSON.stringify({ title: titleOf(Number(productId)) })];
  const pageId = PAGES.exec(path)?.[1];
  if (pageId !== undefined) return ["text/html", shell(`product(${pageId})`)];
  if (path === "/app.js") return ["text/javascript", appScript(pages)];
  const call = CALLS[path];
  return call === undefined ? undefined : ["text/html", shell(call)];
}

function shell(call: string): string {
  return `<!doctype html><title>shop</title><noscript>You need to enable JavaScript to run this app.</noscript>
<div id="root"></div><script src="/app.js"></script><script>${call}</script>`;
}

function appScript(pages: number): string {
  return `
const root = document.getElementById("root");
function list() {
  for (let n = 1; n <= ${pages}; n++) root.innerHTML += '<a href="/p/' + n + '">product ' + n + "</a> ";
}
async function product(n) {
  const { title } = await (await fetch("/api/" + n)).json();
  root.innerHTML = '<h1 class="title">' + title + '</h1><p class="text">' + "words ".repeat(200) + "</p>";
}
function endless() { for (;;); }
function crash() {
  let deepest = root;
  for (let depth = 0; depth < 300_000; depth++) deepest = deepest.appendChild(document.createElement("div"));
  console.log(root.offsetHeight);
}
`;
}
