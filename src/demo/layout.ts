/** The HTML layout that all pages of the demo shop share. */
import { DEPARTMENTS } from "./departments.ts";
import { html, type Markup } from "./html.ts";

export const SHOP_NAME = "Demo Harbour";

type Frame = {
  title: string;
  description: string;
  /** Absolute. */
  canonical: string;
  /** Extra elements for the head: OpenGraph, structured data, rel=next. */
  head?: Markup;
  /** The category to mark in the menu. */
  department?: string;
  /** False: only the HTTP header declares the charset. */
  declaresCharset?: boolean;
  main: Markup;
};

/** A whole document. The layout contains only Latin-1 characters, because one page of the shop is sent in Latin-1. */
export function layout({
  title,
  description,
  canonical,
  head,
  department,
  declaresCharset = true,
  main,
}: Frame): string {
  return html`<!doctype html>
<html lang="en">
<head>
${declaresCharset ? html`<meta charset="utf-8">` : html``}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} | ${SHOP_NAME}</title>
<meta name="description" content="${description}">
<link rel="canonical" href="${canonical}">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
${head ?? html``}
</head>
<body>
<header class="masthead">
<div class="wrap">
<a class="brand" href="/"><img src="/favicon.svg" alt="" width="34" height="34">${SHOP_NAME}</a>
<nav class="menu" aria-label="Categories">
${DEPARTMENTS.map(({ slug, name }) => menuEntry(slug, name, slug === department))}
</nav>
<a class="basket" href="/checkout/">Basket</a>
</div>
</header>
<main class="wrap">
${main}
</main>
<footer class="footer">
<div class="wrap">
<p><strong>${SHOP_NAME}</strong> is a demo shop for testing crawlers. Nothing in it is for sale.</p>
<nav aria-label="About the shop">
<a href="/about/">About</a>
<a href="/delivery/">Delivery</a>
<a href="/workshop/">Workshop</a>
<a href="/cafe/">Caf\u00e9</a>
</nav>
</div>
</footer>
</body>
</html>
`.markup;
}

function menuEntry(slug: string, name: string, isCurrent: boolean): Markup {
  const current = isCurrent ? html` aria-current="page"` : html``;
  return html`<a href="/category/${slug}/"${current}>${name}</a>`;
}
