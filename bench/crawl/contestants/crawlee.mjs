/**
 * Crawls with CheerioCrawler of Crawlee: `node crawlee.mjs '{ "urls": […], "concurrency": 64, "intervalMs": 250,
 * "folder": "…", "out": "…" }'`, where `folder` contains the installation.
 *
 * It is configured for speed, as its documentation advises: storage in memory, no session pool, and the full
 * concurrency from the start. Its handler does the same as a Trawl crawl without rules: it follows links of the same
 * host and stores title, description, 5,000 characters of text and links.
 */
import dns from "node:dns";
import { createRequire } from "node:module";
import { join } from "node:path";

const TEXT_CHARS = 5_000;

const { urls, concurrency, intervalMs, folder, out } = JSON.parse(process.argv[2]);
const { CheerioCrawler, Configuration, log } = createRequire(join(folder, "package.json"))("crawlee");
log.setLevel(log.LEVELS.OFF);
if (intervalMs !== undefined) resolveSiteNames();
let records = 0;

const crawler = new CheerioCrawler(
  {
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    useSessionPool: false,
    ...(intervalMs === undefined ? {} : { sameDomainDelaySecs: intervalMs / 1_000 }),
    async requestHandler({ $, request, enqueueLinks, pushData }) {
      await enqueueLinks({ strategy: "same-hostname" });
      const links = $("a[href]")
        .map((_, anchor) => new URL($(anchor).attr("href"), request.loadedUrl).href)
        .get();
      $("script, style, noscript").remove();
      records += 1;
      await pushData({
        url: request.loadedUrl,
        title: $("title").text(),
        description: $('meta[name="description"]').attr("content"),
        text: $("body").text().replace(/\s+/g, " ").trim().slice(0, TEXT_CHARS),
        links,
      });
    },
  },
  new Configuration({ persistStorage: false }),
);
const { requestsFinished } = await crawler.run(intervalMs === undefined ? urls : urls.map(nameOf));
await crawler.exportData(out);
console.log(JSON.stringify({ pages: requestsFinished, records }));

/**
 * Replaces the address by a name: 127.0.1.7 becomes site-127-0-1-7.test. Crawlee limits the rate per registrable
 * domain, so it does not limit the rate of addresses.
 */
function nameOf(url) {
  const { hostname, port } = new URL(url);
  return `http://site-${hostname.replaceAll(".", "-")}.test:${port}/`;
}

function resolveSiteNames() {
  const { lookup } = dns;
  dns.lookup = (hostname, options, callback) => {
    const done = typeof options === "function" ? options : callback;
    const [, ...parts] = /^site-(\d+)-(\d+)-(\d+)-(\d+)\.test$/.exec(hostname) ?? [];
    if (parts.length === 0) return lookup(hostname, options, callback);
    const address = parts.join(".");
    process.nextTick(() => (options?.all === true ? done(null, [{ address, family: 4 }]) : done(null, address, 4)));
  };
}
