/** Pages that list products: home, categories and tags. */
import { type Catalogue, type Product, priceTag, type Tag } from "./catalogue.ts";
import type { Department } from "./departments.ts";
import { html, type Markup } from "./html.ts";
import { layout, SHOP_NAME } from "./layout.ts";
import { picturePath } from "./pictures.ts";

export const CATEGORY_PAGE_SIZE = 12;
export const TAG_PAGE_SIZE = 24;

/** One page of a long list, counted from 1. */
export type ListPage = { basePath: string; page: number; pages: number; products: readonly Product[]; total: number };

/** Splits a list into pages: the first is at `basePath`, the others are below it. */
export function listPages(basePath: string, products: readonly Product[], size: number): ListPage[] {
  const pages = Math.ceil(products.length / size);
  return Array.from({ length: pages }, (_, index) => ({
    basePath,
    page: index + 1,
    pages,
    products: products.slice(index * size, (index + 1) * size),
    total: products.length,
  }));
}

/** The path of page `page` of a list. */
export function listPath(basePath: string, page: number): string {
  return page === 1 ? basePath : `${basePath}page/${page}/`;
}

export function homePage({ departments, products }: Catalogue, baseUrl: string): string {
  const best = departments.map(({ slug }) => mostLoved(products.filter(({ department }) => department.slug === slug)));
  return layout({
    title: "Plain things, well made",
    description: `${products.length} plain things for the house, in ${departments.length} categories.`,
    canonical: `${baseUrl}/`,
    main: html`<section class="hero">
<p class="eyebrow">${products.length} things in ${departments.length} categories</p>
<h1>Plain things, well made</h1>
<p>Everything for the house: no batteries, no subscriptions, and a price on every page.</p>
<p><a class="button" href="/category/kitchen/">Start in the kitchen</a> <a class="button quiet" href="/about/">About the shop</a></p>
</section>
<h2>Categories</h2>
<div class="tiles">
${departments.map((department) => tile(department, products))}
</div>
<h2>Most loved</h2>
${cards(best.flat())}`,
  });
}

export function categoryPage(department: Department, list: ListPage, baseUrl: string): string {
  return listing(list, baseUrl, {
    title: department.name,
    description: department.blurb,
    department: department.slug,
    parents: html`<a href="/">Home</a>`,
  });
}

export function tagPage(tag: Tag, list: ListPage, baseUrl: string): string {
  return listing(list, baseUrl, {
    title: `Tagged: ${tag.name}`,
    description: `Everything in the shop that is ${tag.name}.`,
    parents: html`<a href="/">Home</a>`,
  });
}

/**
 * Product cards. Their prices have the class `cost`; only product pages have `price`, so that a rule for `.price`
 * matches product pages only.
 */
export function cards(products: readonly Product[]): Markup {
  return html`<ul class="cards">
${products.map(
  (product) => html`<li class="card">
<a class="card-picture" href="${product.path}"><img src="${picturePath(product)}" alt="" width="320" height="240" loading="lazy"></a>
<h3><a href="${product.path}">${product.name}</a></h3>
<p class="card-foot"><span class="cost">${priceTag(product.pricePence)}</span> <span class="card-rating">&#9733; ${product.rating.toFixed(1)}</span></p>
</li>`,
)}
</ul>`;
}

function mostLoved(products: readonly Product[]): Product[] {
  return [...products].sort((a, b) => b.rating * b.reviews - a.rating * a.reviews).slice(0, 1);
}

type ListingText = { title: string; description: string; department?: string; parents: Markup };

function listing(list: ListPage, baseUrl: string, text: ListingText): string {
  const suffix = list.page === 1 ? "" : `, page ${list.page}`;
  return layout({
    title: `${text.title}${suffix}`,
    description: text.description,
    canonical: `${baseUrl}${listPath(list.basePath, list.page)}`,
    ...(text.department === undefined ? {} : { department: text.department }),
    head: html`<meta property="og:site_name" content="${SHOP_NAME}">`,
    main: html`<nav class="breadcrumb" aria-label="Breadcrumb">${text.parents} <span>${text.title}</span></nav>
<header class="list-head">
<h1>${text.title}</h1>
<p>${text.description}</p>
<p class="count">${list.total} products, page ${list.page} of ${list.pages}</p>
</header>
${cards(list.products)}
${pagination(list)}`,
  });
}

function pagination({ basePath, page, pages }: ListPage): Markup {
  if (pages === 1) return html``;
  const numbers = Array.from({ length: pages }, (_, index) => index + 1);
  return html`<nav class="pagination" aria-label="Pages">
${page > 1 ? html`<a class="previous" rel="prev" href="${listPath(basePath, page - 1)}">Previous</a>` : html``}
${numbers.map((number) =>
  number === page
    ? html`<span aria-current="page">${number}</span>`
    : html`<a href="${listPath(basePath, number)}">${number}</a>`,
)}
${page < pages ? html`<a class="next" rel="next" href="${listPath(basePath, page + 1)}">Next</a>` : html``}
</nav>`;
}

function tile({ slug, name }: Department, products: readonly Product[]): Markup {
  const own = products.filter(({ department }) => department.slug === slug);
  const [first] = own;
  const picture =
    first === undefined ? html`` : html`<img src="${picturePath(first)}" alt="" width="320" height="240">`;
  return html`<a class="tile" href="/category/${slug}/">${picture}<span><strong>${name}</strong> ${own.length} products</span></a>`;
}
