/**
 * Crawls with spider-rs, a crawler in Rust with a binding for Node: `node spider-rs.mjs '{ "urls": […], "intervalMs":
 * 250, "folder": "…", "out": "…" }'`, where `folder` contains the installation.
 *
 * It has one `Website` per site, and all run at once. It stores the URL and size of each page that reaches the
 * subscriber; some pages do not. Its delay is a whole number of milliseconds.
 */
import { createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Callbacks may arrive after the crawl has ended. */
const LAST_CALLBACKS_MS = 200;
const { urls, intervalMs, folder, out } = JSON.parse(process.argv[2]);
const { Website } = createRequire(join(folder, "package.json"))("@spider-rs/spider-rs");
const file = createWriteStream(out);
let records = 0;

await Promise.all(urls.map(crawlSite));
await sleep(LAST_CALLBACKS_MS);
await new Promise((resolve) => file.end(resolve));
console.log(JSON.stringify({ records }));
process.exit(); // its threads keep the process running

async function crawlSite(url) {
  const website = new Website(url).withRespectRobotsTxt(false);
  if (intervalMs !== undefined) website.withDelay(Math.ceil(intervalMs));
  website.build().subscribe((error, page) => {
    if (error !== null) return;
    records += 1;
    file.write(`${JSON.stringify({ url: page.url, chars: page.content.length })}\n`);
  });
  await website.crawl();
}
