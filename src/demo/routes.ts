/** Every path of the demo shop and its response, including the difficult ones. */
import { gzipSync } from "node:zlib";
import type { Catalogue, Product } from "./catalogue.ts";
import {
  CATEGORY_PAGE_SIZE,
  categoryPage,
  homePage,
  type ListPage,
  listPages,
  listPath,
  TAG_PAGE_SIZE,
  tagPage,
} from "./listings.ts";
import { aboutPage, busyPage, cafePage, checkoutPage, deliveryPage, missingPage, workshopPage } from "./notices.ts";
import { drawPicture, ICON, picturePath } from "./pictures.ts";
import { productPage } from "./product-page.ts";
import { STYLE } from "./style.ts";

export type Answer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The delay before the response. */
  delayMs: number;
  /** Whether it may be sent compressed. */
  isCompressible: boolean;
};

type Routes = {
  /** The response to a GET of this path. */
  answer(path: string): Answer;
};

/** The files of the sitemap index. */
const PAGES_SITEMAP = "/sitemaps/pages.xml";
const PRODUCTS_SITEMAP = "/sitemaps/products.xml.gz";

const SLOW_MS = 1500;
/** The index of the product whose first request fails, and of the product with an old address that redirects. */
const FLAKY_PRODUCT = 100;
const OLD_PRODUCT = 0;

type Route = { isListed: boolean; answer(): Answer };

export function createRoutes(catalogue: Catalogue, baseUrl: string): Routes {
  const routes = new Map<string, Route>();
  const listed = (path: string, answer: () => Answer) => routes.set(path, { isListed: true, answer });
  const unlisted = (path: string, answer: () => Answer) => routes.set(path, { isListed: false, answer });

  listed("/", () => page(homePage(catalogue, baseUrl)));
  for (const { path, next, render } of listingRoutes(catalogue, baseUrl)) listed(path, () => listPage(render(), next));
  for (const [index, product] of catalogue.products.entries()) {
    const show = () => page(productPage(product, catalogue, baseUrl));
    listed(product.path, index === FLAKY_PRODUCT ? onceBusy(show, baseUrl) : show);
    unlisted(picturePath(product), () => file("image/svg+xml", drawPicture(product)));
  }
  const [oldProduct, oldPath] = oldProductOf(catalogue);
  unlisted(oldPath, () => redirect(oldProduct.path));

  listed("/about/", () => ({ ...page(aboutPage(baseUrl, oldPath)), isCompressible: true }));
  listed("/delivery/", () => page(deliveryPage(baseUrl)));
  listed("/workshop/", () => ({ ...page(workshopPage(baseUrl)), delayMs: SLOW_MS }));
  listed("/cafe/", () => answerOf(200, "text/html; charset=iso-8859-1", Buffer.from(cafePage(baseUrl), "latin1")));
  unlisted("/checkout/", () => page(checkoutPage(baseUrl)));
  unlisted("/style.css", () => file("text/css", STYLE));
  unlisted("/favicon.svg", () => file("image/svg+xml", ICON));
  unlisted("/robots.txt", () => file("text/plain", robots(baseUrl)));
  const listedPaths = (isWanted: (path: string) => boolean) =>
    [...routes].filter(([path, { isListed }]) => isListed && isWanted(path)).map(([path]) => path);
  unlisted("/sitemap.xml", () => file("application/xml", sitemapIndex([PAGES_SITEMAP, PRODUCTS_SITEMAP], baseUrl)));
  unlisted(PAGES_SITEMAP, () =>
    file(
      "application/xml",
      sitemap(
        listedPaths((path) => !isProduct(path)),
        baseUrl,
      ),
    ),
  );
  unlisted(PRODUCTS_SITEMAP, () =>
    answerOf(200, "application/gzip", gzipSync(sitemap(listedPaths(isProduct), baseUrl))),
  );

  return { answer: (path) => routes.get(path)?.answer() ?? page(missingPage(baseUrl), 404) };
}

/** `next`: the path of the next page of the list. */
type ListingRoute = { path: string; next: string | undefined; render: () => string };

function listingRoutes(catalogue: Catalogue, baseUrl: string): ListingRoute[] {
  const at = (list: ListPage, render: () => string) => ({
    path: listPath(list.basePath, list.page),
    next: list.page < list.pages ? listPath(list.basePath, list.page + 1) : undefined,
    render,
  });
  const categories = catalogue.departments.flatMap((department) => {
    const own = catalogue.products.filter((product) => product.department === department);
    return listPages(`/category/${department.slug}/`, own, CATEGORY_PAGE_SIZE).map((list) =>
      at(list, () => categoryPage(department, list, baseUrl)),
    );
  });
  const tags = catalogue.tags.flatMap((tag) => {
    const own = catalogue.products.filter((product) => product.tags.includes(tag));
    return listPages(tag.path, own, TAG_PAGE_SIZE).map((list) => at(list, () => tagPage(tag, list, baseUrl)));
  });
  return [...categories, ...tags];
}

/** Answers the first request with 503, and all later ones with the page. */
function onceBusy(show: () => Answer, baseUrl: string): () => Answer {
  let wasRequested = false;
  return () => {
    if (wasRequested) return show();
    wasRequested = true;
    const answer = page(busyPage(baseUrl), 503);
    return { ...answer, headers: { ...answer.headers, "retry-after": "1" } };
  };
}

function oldProductOf({ products }: Catalogue): [Product, string] {
  const product = products[OLD_PRODUCT];
  if (product === undefined) throw new Error("the catalogue is empty");
  return [product, `/shop/${product.id}.html`];
}

function robots(baseUrl: string): string {
  return `User-agent: *\nDisallow: /checkout/\n\nSitemap: ${baseUrl}/sitemap.xml\n`;
}

function isProduct(path: string): boolean {
  return path.startsWith("/product/");
}

function sitemap(paths: readonly string[], baseUrl: string): string {
  const entries = paths.map((path) => `<url><loc>${baseUrl}${path}</loc></url>\n`);
  return sitemapFile("urlset", entries);
}

function sitemapIndex(files: readonly string[], baseUrl: string): string {
  const entries = files.map((path) => `<sitemap><loc>${baseUrl}${path}</loc></sitemap>\n`);
  return sitemapFile("sitemapindex", entries);
}

function sitemapFile(root: string, entries: readonly string[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join("")}</${root}>\n`;
}

/** A page of a list. Its header names the next one. */
function listPage(text: string, next: string | undefined): Answer {
  const answer = page(text);
  return next === undefined ? answer : { ...answer, headers: { ...answer.headers, link: `<${next}>; rel="next"` } };
}

function page(text: string, status = 200): Answer {
  return answerOf(status, "text/html; charset=utf-8", Buffer.from(text));
}

function file(type: string, text: string): Answer {
  return answerOf(200, `${type}; charset=utf-8`, Buffer.from(text));
}

function redirect(location: string): Answer {
  const answer = answerOf(301, "text/plain; charset=utf-8", Buffer.from(`moved to ${location}\n`));
  return { ...answer, headers: { ...answer.headers, location } };
}

function answerOf(status: number, contentType: string, body: Buffer): Answer {
  return { status, headers: { "content-type": contentType }, body, delayMs: 0, isCompressible: false };
}
