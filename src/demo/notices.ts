/** The pages without products. Some are difficult for crawlers; see routes.ts. */
import { html, type Markup } from "./html.ts";
import { layout } from "./layout.ts";

const MISSING_PATH = "/catalogue/last-year/";

export function aboutPage(baseUrl: string, oldProductPath: string): string {
  return notice(
    baseUrl,
    "/about/",
    "About the shop",
    html`<p>This shop exists to test crawlers. It has categories with pages, products with prices, pictures and
structured data, and some problems of real sites.</p>
<ul>
<li>One product has an <a href="${oldProductPath}">old address</a> that redirects to the new one.</li>
<li>Last year's catalogue is <a href="${MISSING_PATH}">no longer here</a>: the link is dead.</li>
<li>One product fails on the first request, with status 503 and a Retry-After header.</li>
<li>The <a href="/cafe/">caf\u00e9</a> sends its menu in Latin-1. Only a header declares this encoding.</li>
<li>The <a href="/workshop/">workshop</a> responds slowly.</li>
<li>The <a href="/checkout/">checkout</a> is disallowed in <a href="/robots.txt">robots.txt</a>.</li>
</ul>
<p>All pages that crawlers may visit are in the <a href="/sitemap.xml">sitemap</a>. This page is sent compressed.</p>`,
  );
}

export function deliveryPage(baseUrl: string): string {
  return notice(
    baseUrl,
    "/delivery/",
    "Delivery",
    html`<p>We ship orders every morning.</p>
<table class="details">
<tr><th>By boat</th><td>4 to 9 days</td><td>free</td></tr>
<tr><th>By bicycle</th><td>within the town</td><td>£2.50</td></tr>
<tr><th>Collected</th><td>during opening hours</td><td>free</td></tr>
</table>`,
  );
}

export function workshopPage(baseUrl: string): string {
  return notice(
    baseUrl,
    "/workshop/",
    "The workshop",
    html`<p>Good work takes time. This page responds after one and a half seconds, to test slow responses.</p>
<p>Repairs are done on Tuesdays. Bring the broken part and, if you have it, the paper box.</p>`,
  );
}

/** Contains only Latin-1 characters, and declares no charset in its markup. */
export function cafePage(baseUrl: string): string {
  return notice(
    baseUrl,
    "/cafe/",
    "Caf\u00e9",
    html`<p>Today's menu:</p>
<table class="details">
<tr><th>Crème brûlée</th><td>with bay leaf</td><td>£4.50</td></tr>
<tr><th>Müsli</th><td>with stewed plums</td><td>£3.80</td></tr>
<tr><th>Früchtetee</th><td>a pot for two</td><td>£2.90</td></tr>
<tr><th>Smørrebrød</th><td>with fresh fish</td><td>£6.20</td></tr>
</table>`,
    false,
  );
}

export function checkoutPage(baseUrl: string): string {
  return notice(
    baseUrl,
    "/checkout/",
    "Your basket",
    html`<p>The basket is empty. robots.txt disallows this page for crawlers.</p>`,
  );
}

export function missingPage(baseUrl: string): string {
  return notice(
    baseUrl,
    "/",
    "Nothing here",
    html`<p>This page does not exist. Try the <a href="/">front page</a>.</p>`,
  );
}

export function busyPage(baseUrl: string): string {
  return notice(baseUrl, "/", "Back in a moment", html`<p>The server is busy. Please try again in a second.</p>`);
}

function notice(baseUrl: string, path: string, title: string, body: Markup, declaresCharset = true): string {
  return layout({
    title,
    description: `${title}: a page of the demo shop.`,
    canonical: `${baseUrl}${path}`,
    declaresCharset,
    main: html`<nav class="breadcrumb" aria-label="Breadcrumb"><a href="/">Home</a> <span>${title}</span></nav>
<article class="notice">
<h1>${title}</h1>
${body}
</article>`,
  });
}
