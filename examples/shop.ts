// Extracts every product of the demo shop with its category, and checks each record against a schema.
//
//   npx trawl demo --serve --port 8321                        in one terminal
//   npx trawl crawl examples/shop.ts --out products.csv       in another
import { defineSpider } from "trawl";
import { z } from "zod";

/** Invalid records are stored separately with the reason; `trawl records JOB --invalid` prints them. */
const product = z.object({
  sku: z.string().regex(/^[A-Z]{3}-\d{4}$/),
  name: z.string().min(1),
  category: z.string(),
  price: z.number().positive(),
  inStock: z.boolean(),
});

/** The carry value that the category handler passes to the product handler. */
const productCarry = z.object({ category: z.string() });

export default defineSpider({
  name: "demo shop, by category",
  start: ["http://127.0.0.1:8321/"],
  // The shop runs on this machine. For other sites, use the default of 4/s.
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
        category: productCarry.parse(carry).category,
        price: Number($(".price").text().replace("£", "")),
        inStock: !$(".stock").hasClass("out"),
      });
    },
  },
});
