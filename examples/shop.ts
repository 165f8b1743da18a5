// Every product of the demo shop, each with the category it was found in and checked against a schema.
//
//   npx trawl demo --serve --port 8321                        in one terminal: the shop
//   npx trawl crawl examples/shop.ts --out products.csv       in another: this
import { defineSpider } from "trawl";
import { z } from "zod";

/** A record that does not fit is kept apart with the reason, and not among the others: `trawl records JOB --invalid`. */
const product = z.object({
  sku: z.string().regex(/^[A-Z]{3}-\d{4}$/),
  name: z.string().min(1),
  category: z.string(),
  price: z.number().positive(),
  inStock: z.boolean(),
});

/** What a category page hands on to its products: a product's own page need not say where it was found. */
const found = z.object({ category: z.string() });

export default defineSpider({
  name: "demo shop, by category",
  start: ["http://127.0.0.1:8321/"],
  // The shop is ours and on this machine. A stranger's site gets the default of 4/s.
  politeness: { rate: "100/s", perSite: 8 },
  schema: product,

  page({ follow }) {
    follow("a.tile", { to: "category" });
  },

  handlers: {
    category({ $, follow }) {
      follow(".card h3 a", { to: "product", carry: { category: $("h1").text() } });
      follow("a.next", { to: "category" });
    },

    product({ $, carry, emit }) {
      emit({
        sku: $(".sku").text(),
        name: $("h1").text(),
        category: found.parse(carry).category,
        price: Number($(".price").text().replace("£", "")),
        inStock: !$(".stock").hasClass("out"),
      });
    },
  },
});
