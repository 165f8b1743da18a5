/** Every path of the demo shop and its response, including the difficult ones. */
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
  for (const { path, render } of listingRoutes(catalogue, baseUrl)) listed(path, () => page(render()));
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
  unlisted("/sitemap.xml", () => file("application/xml", sitemap(routes, baseUrl)));

  return { answer: (path) => routes.get(path)?.answer() ?? page(missingPage(baseUrl), 404) };
}

function listingRoutes(catalogue: Catalogue, baseUrl: string): { path: string; render: () => string }[] {
  const at = (list: ListPage, render: () => string) => ({ path: listPath(list.basePath, list.page), render });
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

function sitemap(routes: ReadonlyMap<string, Route>, baseUrl: string): string {
  const entries = [...routes]
    .filter(([, { isListed }]) => isListed)
    .map(([path]) => `<url><loc>${baseUrl}${path}</loc></url>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join("")}</urlset>\n`;
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
