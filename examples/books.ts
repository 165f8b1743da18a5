// Extracts every book of books.toscrape.com, a site made for scraping practice.
//
//   npx trawl crawl examples/books.ts --out books.csv
//   npx trawl crawl examples/books.ts --max-pages 3 | head
//
// Stop it with Ctrl-C at any time; `npx trawl crawl --resume` continues where it stopped.
import { defineSpider } from "trawl";

export default defineSpider({
  name: "books",
  start: ["https://books.toscrape.com/"],
  politeness: { rate: "4/s", perSite: 2 },

  page({ $, emit, follow }) {
    for (const card of $(".product_pod")) {
      emit({ title: $(card).find("h3 a").attr("title"), price: $(card).find(".price_color").text() });
    }
    follow(".next a");
  },
});
