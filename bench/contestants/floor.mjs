/**
 * The floor: the plain loop one writes to crawl a site and keep nothing. `node floor.mjs <url> <concurrency>`.
 *
 * Fetches with undici, finds links with htmlparser2, remembers URLs in a Set. No robots.txt, no limits, no retries, no
 * records, nothing on disk. One failed request ends it: a floor that skips pages would be no floor.
 */
import { Parser } from "htmlparser2";
import { Agent, request } from "undici";

const [start, concurrency] = [process.argv[2], Number(process.argv[3])];
const { origin } = new URL(start);
const dispatcher = new Agent({ connections: concurrency });
const seen = new Set([start]);
const queue = [start];
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
  for (const href of findLinks(html)) follow(href, url);
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

function follow(href, base) {
  const url = new URL(href, base);
  if (url.origin !== origin) return;
  url.hash = "";
  if (seen.has(url.href)) return;
  seen.add(url.href);
  queue.push(url.href);
}
