/**
 * The floor: a minimal loop that crawls sites and stores nothing. `node floor.mjs '{ "urls": […], "concurrency": 64,
 * "perSite": 4, "intervalMs": 250 }'`. Without `intervalMs`, there is no rate.
 *
 * It fetches with undici, finds links with htmlparser2, and keeps seen URLs in a Set. It has no robots.txt, retries,
 * records or files. One failed request ends it: if it skipped pages, its cost would not be comparable.
 */
import { Parser } from "htmlparser2";
import { Agent, request } from "undici";

const { urls, concurrency, perSite, intervalMs } = JSON.parse(process.argv[2]);
const dispatcher = new Agent({ connections: perSite });
const seen = new Set(urls);
const queue = intervalMs === undefined ? [...urls] : [];
let active = 0;
let pages = 0;

await (intervalMs === undefined ? crawlFreely() : Promise.all(urls.map(crawlAtRate)));
await dispatcher.close();
console.log(JSON.stringify({ pages }));

function crawlFreely() {
  return new Promise((resolve, reject) => {
    const pump = () => {
      while (active < concurrency && queue.length > 0) {
        active += 1;
        visit(queue.pop(), queue).then(() => {
          active -= 1;
          pump();
        }, reject);
      }
      if (active === 0) resolve();
    };
    pump();
  });
}

/** Crawls one site. A late request delays all requests after it. */
function crawlAtRate(startUrl) {
  return new Promise((resolve, reject) => {
    const waiting = [startUrl];
    let running = 0;
    let nextAt = performance.now();
    const tick = () => {
      const now = performance.now();
      if (now < nextAt) return void setTimeout(tick, nextAt - now);
      if (waiting.length === 0 && running === 0) return resolve();
      if (waiting.length > 0 && running < perSite) {
        running += 1;
        visit(waiting.pop(), waiting).then(() => {
          running -= 1;
        }, reject);
        nextAt = now + intervalMs;
      }
      setTimeout(tick, Math.max(1, nextAt - performance.now()));
    };
    tick();
  });
}

async function visit(url, found) {
  const { statusCode, body } = await request(url, { dispatcher });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  const html = await body.text();
  pages += 1;
  const { origin } = new URL(url);
  for (const href of findLinks(html)) follow(href, url, origin, found);
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

function follow(href, base, origin, found) {
  const url = new URL(href, base);
  if (url.origin !== origin) return;
  url.hash = "";
  if (seen.has(url.href)) return;
  seen.add(url.href);
  found.push(url.href);
}
