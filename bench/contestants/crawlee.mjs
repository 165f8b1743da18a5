/**
 * Crawlee's CheerioCrawler as its users have it: `node crawlee.mjs <url> <concurrency> <folder it is installed in>`.
 *
 * Default settings (request queue and dataset on disk) but for `maxConcurrency` and the log. Its handler does what a
 * Trawl crawl without rules does: follow links of the same host, keep title, description, 5,000 characters of text, links.
 */
import { createRequire } from "node:module";
import { join } from "node:path";

const TEXT_CHARS = 5_000;

const [start, concurrency, home] = process.argv.slice(2);
const { CheerioCrawler, Dataset, log } = createRequire(join(home, "package.json"))("crawlee");
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
