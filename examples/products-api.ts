/** Reads a JSON API page by page, with POST requests. */
import { defineSpider } from "trawl";

type ProductPage = { products: { id: number; name: string; price: number }[]; nextPage: number | null };

export default defineSpider({
  name: "products-api",
  start: [{ url: "http://127.0.0.1:8321/api/products", json: { page: 1 } }],
  politeness: { rate: "50/s" },

  page({ html, url, emit, follow }) {
    const { products, nextPage } = JSON.parse(html) as ProductPage;
    for (const product of products) emit(product);
    if (nextPage !== null) follow(url, { json: { page: nextPage } });
  },
});
