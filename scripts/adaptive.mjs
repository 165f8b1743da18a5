#!/usr/bin/env node
// `node scripts/adaptive.mjs`: crawls sites that fail or are overloaded, and reports times, goodput and errors from the
// logs of the sites. Each case runs the built command line with an empty broker. The sites run on this machine, which
// should be idle.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/adaptive.mjs [case…] [options]
  broken     100 pages, 20 of them always answer 503: scattered, and with Retry-After: 1
  capacity   a site that serves 20 requests per second, at fixed rates and at 100/s
  sick       100 sites, one of them answers 503 to everything, with and without that site
Without a case, all of them run. Build first: npm run build.
  --pages N  pages of the case capacity (1000)
  --sites N  sites of the case sick (100)`;

const MAIN = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const CAPACITY = 20;
/** Responses after this many count as "after the start". */
const START = 200;

const FIXED = "--no-adaptive";
const CASES = { broken, capacity, sick };

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

function readOptions() {
  const options = { pages: { type: "string" }, sites: { type: "string" } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const unknown = positionals.find((name) => CASES[name] === undefined);
  if (unknown !== undefined) throw new Error(`no case ${unknown}`);
  return {
    cases: positionals.length === 0 ? Object.keys(CASES) : positionals,
    pages: readCount("--pages", values.pages ?? "1000"),
    sites: readCount("--sites", values.sites ?? "100"),
  };
}

async function main({ cases, ...options }) {
  for (const name of cases) {
    const rows = await CASES[name](options);
    console.log(`\n${name}`);
    console.table(rows);
  }
  return 0;
}

async function broken() {
  const rows = [];
  for (const retryAfter of [undefined, 1]) {
    const isBroken = (url) => Number(url.slice(2)) % 5 === 3;
    const answer = (url) => (isBroken(url) ? { status: 503, retryAfter } : { status: 200 });
    const site = await openSite(answer);
    const urls = Array.from({ length: 100 }, (_, page) => `${site.url}/p${page}`);
    const seconds = await crawl(urls, ["--rate", "50/s"]);
    rows.push({
      "Retry-After": retryAfter ?? "none",
      seconds,
      "good pages": site.log.filter(({ status }) => status === 200).length,
      "tries of a broken page": triesOf(site.log.filter(({ status }) => status === 503)),
      "shortest retry, s": shortestRetry(site.log),
    });
    await site.close();
  }
  return rows;
}

function triesOf(log) {
  const counts = new Map();
  for (const { url } of log) counts.set(url, (counts.get(url) ?? 0) + 1);
  return [...new Set(counts.values())].join(", ");
}

function shortestRetry(log) {
  const last = new Map();
  let shortest = Number.POSITIVE_INFINITY;
  for (const { url, at } of log) {
    if (last.has(url)) shortest = Math.min(shortest, at - last.get(url));
    last.set(url, at);
  }
  return Math.round(shortest) / 1000;
}

async function capacity({ pages }) {
  const rows = [];
  const runs = [["100/s"], ["18/s", FIXED], ["20/s", FIXED], ["25/s", FIXED], ["100/s", FIXED]];
  for (const [rate, ...flags] of runs) {
    const site = await openSite(limited());
    const urls = Array.from({ length: pages }, (_, page) => `${site.url}/p${page}`);
    const seconds = await crawl(urls, ["--rate", rate, ...flags]);
    const good = site.log.filter(({ status }) => status === 200);
    const later = site.log.slice(START);
    rows.push({
      rate: `${rate}${flags.length === 0 ? ", adaptive" : ""}`,
      seconds,
      "good pages": good.length,
      "good/s": Math.round((good.length / seconds) * 10) / 10,
      "errors, %": percentBad(site.log),
      "errors after the start, %": percentBad(later),
    });
    await site.close();
    console.log(JSON.stringify(rows.at(-1)));
  }
  return rows;
}

/** A token bucket. A request without a token gets a late 503. */
function limited() {
  let [tokens, before] = [CAPACITY / 2, performance.now()];
  return () => {
    const now = performance.now();
    tokens = Math.min(CAPACITY / 2, tokens + ((now - before) / 1000) * CAPACITY);
    before = now;
    if (tokens < 1) return { status: 503, delayMs: 150 };
    tokens -= 1;
    return { status: 200, delayMs: 20 };
  };
}

function percentBad(log) {
  return Math.round((1000 * log.filter(({ status }) => status !== 200).length) / Math.max(1, log.length)) / 10;
}

async function sick({ sites: count }) {
  const rows = [];
  for (const isSick of [false, true]) {
    const sites = await Promise.all(
      Array.from({ length: count }, (_, nth) =>
        openSite(() => ({ status: isSick && nth === 0 ? 503 : 200, delayMs: 20 })),
      ),
    );
    const healthy = sites.slice(1);
    const urls = Array.from({ length: 60 }, (_, page) => sites.map(({ url }) => `${url}/p${page}`)).flat();
    const isDone = () => healthy.every(({ log }) => log.length >= 60);
    const seconds = await crawl(urls, ["--rate", "10/s", "-c", "128"], isDone);
    rows.push({ "sick sites": isSick ? 1 : 0, "seconds until the others are done": seconds });
    await Promise.all(sites.map((site) => site.close()));
  }
  return rows;
}

async function openSite(answer) {
  const log = [];
  const server = createServer((request, response) => {
    const at = performance.now();
    const { status, retryAfter, delayMs = 5 } = answer(request.url);
    log.push({ url: request.url, at, status });
    const headers = { "content-type": "text/html", ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }) };
    setTimeout(() => response.writeHead(status, headers).end("<h1>page</h1>"), delayMs);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}`, log, close };
}

/** Returns the seconds until the crawl ends, or until `isDone` returns true. */
async function crawl(urls, flags, isDone) {
  const cwd = mkdtempSync(join(tmpdir(), "trawl-adaptive-"));
  writeFileSync(join(cwd, "urls.txt"), urls.join("\n"));
  const args = [MAIN, "crawl", "urls.txt", "--follow", "none", "--ignore-robots", "--quiet", "--out", "out.jsonl"];
  const child = spawn(process.execPath, [...args, ...flags], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" },
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const startedAt = performance.now();
  let timer;
  const done = new Promise((resolve) => {
    if (isDone !== undefined) timer = setInterval(() => isDone() && resolve(), 20);
  });
  await Promise.race([ended, done]);
  clearInterval(timer);
  const seconds = Math.round(performance.now() - startedAt) / 1000;
  child.kill("SIGKILL");
  await ended;
  rmSync(cwd, { recursive: true, force: true });
  return seconds;
}
