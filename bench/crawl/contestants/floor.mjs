/**
 * The floor: a minimal loop that crawls sites and stores nothing. `node floor.mjs '{ "urls": […], "concurrency": 64,
 * "perSite": 4 }'`.
 *
 * It fetches with undici, finds links with htmlparser2, and keeps seen URLs in a Set. It has no robots.txt, rates,
 * retries, records or files. One failed request ends it: if it skipped pages, its cost would not be comparable.
 */
import { Parser } from "htmlparser2";
import { Agent, request } from "undici";

const { urls, concurrency, perSite } = JSON.parse(process.argv[2]);
const dispatcher = new Agent({ connections: perSite });
const seen = new Set(urls);
const queue = [...urls];
let active = 0;
let pages = 0;

await new Promise((resolve, reject) => {
  const pump = () => {
    while (active < concurrency && queue.length > 0) {
      active += 1;
      visit(queue.pop()).then(() => {
        active -= 1;
        pump();
      }, reject);
    }
    if (active === 0) resolve();
  };
  pump();
});
await dispatcher.close();
console.log(JSON.stringify({ pages }));

async function visit(url) {
  const { statusCode, body } = await request(url, { dispatcher });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  const html = await body.text();
  pages += 1;
  const { origin } = new URL(url);
  for (const href of findLinks(html)) follow(href, url, origin);
}

function findLinks(html) {
  const hrefs = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === "a" && attributes.href !== undefined) hrefs.push(attributes.href);
    },
  });
  parser.end(html);
  return hrefs;
}

function follow(href, base, origin) {
  const url = new URL(href, base);
  if (url.origin !== origin) return;
  url.hash = "";
  if (seen.has(url.href)) return;
  seen.add(url.href);
  queue.push(url.href);
}
