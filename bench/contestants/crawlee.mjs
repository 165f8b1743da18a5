/**
 * Crawls with CheerioCrawler of Crawlee, as its users do: `node crawlee.mjs <url> <concurrency> <folder of the
 * installation>`.
 *
 * Uses the default settings (request queue and dataset on disk) except for `maxConcurrency` and the log. Its handler
 * does the same as a Trawl crawl without rules: it follows links of the same host and stores title, description, 5,000
 * characters of text and links.
 */
import { createRequire } from "node:module";
import { join } from "node:path";

const TEXT_CHARS = 5_000;

const [start, concurrency, folder] = process.argv.slice(2);
const { CheerioCrawler, Dataset, log } = createRequire(join(folder, "package.json"))("crawlee");
log.setLevel(log.LEVELS.OFF);

const crawler = new CheerioCrawler({
  maxConcurrency: Number(concurrency),
  async requestHandler({ $, request, enqueueLinks, pushData }) {
    await enqueueLinks({ strategy: "same-hostname" });
    const links = $("a[href]")
      .map((_, anchor) => new URL($(anchor).attr("href"), request.loadedUrl).href)
      .get();
    $("script, style, noscript").remove();
    await pushData({
      title: $("title").text(),
      description: $('meta[name="description"]').attr("content"),
      text: $("body").text().replace(/\s+/g, " ").trim().slice(0, TEXT_CHARS),
      links,
    });
  },
});
const { requestsFinished } = await crawler.run([start]);
const dataset = await Dataset.open();
const { itemCount } = await dataset.getInfo();
console.log(JSON.stringify({ pages: requestsFinished, records: itemCount }));
