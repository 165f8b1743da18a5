import { type Catalogue, type Product, poundsOf, priceTag } from "./catalogue.ts";
import { html, jsonScript, type Markup } from "./html.ts";
import { layout, SHOP_NAME } from "./layout.ts";
import { cards } from "./listings.ts";
import { picturePath } from "./pictures.ts";

const RELATED = 4;

export function productPage(product: Product, catalogue: Catalogue, baseUrl: string): string {
  return layout({
    title: product.name,
    description: product.description,
    canonical: `${baseUrl}${product.path}`,
    department: product.department.slug,
    head: html`${openGraph(product, baseUrl)}
${jsonScript(structured(product, baseUrl))}`,
    main: html`<nav class="breadcrumb" aria-label="Breadcrumb"><a href="/">Home</a> <a href="/category/${product.department.slug}/">${product.department.name}</a> <span>${product.name}</span></nav>
<article class="product">
<img class="picture" src="${picturePath(product)}" alt="${product.name}" width="640" height="480">
<div class="facts">
<h1>${product.name}</h1>
${rating(product)}
<p class="price">${priceTag(product.pricePence)}</p>
${stock(product)}
<p class="description">${product.description}</p>
<p class="tags">${product.tags.map((tag) => html`<a class="tag" rel="tag" href="${tag.path}">${tag.name}</a>`)}</p>
<p><a class="button" href="/checkout/?add=${product.sku}">Add to basket</a></p>
${details(product)}
</div>
</article>
<h2>More in ${product.department.name.toLowerCase()}</h2>
${cards(relatedTo(product, catalogue))}`,
  });
}

function rating({ rating: value, reviews }: Product): Markup {
  const full = Math.round(value);
  return html`<p class="rating" data-rating="${value.toFixed(1)}"><span class="stars" aria-hidden="true">${"★".repeat(full)}${"☆".repeat(5 - full)}</span> <span class="value">${value.toFixed(1)}</span> <span class="reviews">${reviews} reviews</span></p>`;
}

function stock({ stock: left }: Product): Markup {
  if (left === 0) return html`<p class="stock out">Out of stock</p>`;
  return html`<p class="stock">In stock (${left} available)</p>`;
}

function details({ sku, material, widthMm, heightMm, weightGrams }: Product): Markup {
  return html`<table class="details">
<tr><th>SKU</th><td class="sku">${sku}</td></tr>
<tr><th>Material</th><td>${material}</td></tr>
<tr><th>Size</th><td>${widthMm} × ${heightMm} mm</td></tr>
<tr><th>Weight</th><td>${weightGrams} g</td></tr>
</table>`;
}

function openGraph(product: Product, baseUrl: string): Markup {
  const properties = {
    "og:type": "product",
    "og:site_name": SHOP_NAME,
    "og:title": product.name,
    "og:description": product.description,
    "og:url": `${baseUrl}${product.path}`,
    "og:image": `${baseUrl}${picturePath(product)}`,
    "product:price:amount": poundsOf(product.pricePence),
    "product:price:currency": "GBP",
  };
  return html`${Object.entries(properties).map(([name, value]) => html`<meta property="${name}" content="${value}">`)}`;
}

function structured(product: Product, baseUrl: string): unknown {
  return {
    "@context": "https://schema.org",
    "@type": "Product",
    name: product.name,
    sku: product.sku,
    description: product.description,
    category: product.department.name,
    material: product.material,
    image: `${baseUrl}${picturePath(product)}`,
    offers: {
      "@type": "Offer",
      url: `${baseUrl}${product.path}`,
      price: poundsOf(product.pricePence),
      priceCurrency: "GBP",
      availability: `https://schema.org/${product.stock === 0 ? "OutOfStock" : "InStock"}`,
    },
    aggregateRating: {
      "@type": "AggregateRating",
      ratingValue: product.rating,
      reviewCount: product.reviews,
      bestRating: 5,
    },
  };
}

/** The next products of the category, wrapping around at its end, so that every product is linked from others. */
function relatedTo(product: Product, { products }: Catalogue): Product[] {
  const own = products.filter(({ department }) => department === product.department);
  const at = own.indexOf(product);
  return [...own.slice(at + 1), ...own.slice(0, at)].slice(0, RELATED);
}
