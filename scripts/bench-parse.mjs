#!/usr/bin/env node
// `node scripts/bench-parse.mjs`: compares two modes of parsing pages with an expensive handler: in the workers that
// fetch the pages, and in separate parse workers. Measures the time of requests and the pages per second. Uses a real
// Redis and real workers.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { openStage } from "../bench/fleet/stage.mjs";
import { DIST } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-parse.mjs [options]
  --rounds N    runs of each mode, alternating (3)
  --pages N     pages of a job (400)
  --busy N      milliseconds that the handler computes for each page (20)
  --delay N     milliseconds that every page takes to answer (50)
  --places N    concurrency of a parse worker (32)
  --parsers N   number of parse workers; in the other mode, of workers that fetch and parse (2)`;

const SITES = 4;
const PAGE = 500;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  await ensureReady();
  const { openSqliteStore } = await import(pathToFileURL(join(DIST, "store/sqlite/open-sqlite-store.js")).href);
  const rows = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const way of round % 2 === 1 ? ["inline", "queue"] : ["queue", "inline"]) {
      const row = { round, parse: way, ...(await measure(way, options, openSqliteStore)) };
      console.log(JSON.stringify(row));
      rows.push(row);
    }
  }
  console.table(rows);
  return 0;
}

/** Each run has its own stage, without connections or files of another run. */
async function measure(way, options, openSqliteStore) {
  const stage = await openStage();
  try {
    const sites = await stage.openSites(SITES, options.delay);
    stage.write("busy.mjs", spider(sites, options));
    if (way === "queue") await stage.worker(["--queues", "fetch"]);
    const args = way === "queue" ? ["--queues", "parse", "-c", String(options.places)] : ["--queues", "fetch"];
    for (let nth = 0; nth < options.parsers; nth++) await stage.worker(args);
    const { id } = await stage.submit(["busy.mjs", "--parse", way]);
    const { counts, tally, createdAt, finishedAt } = await stage.finished(id);
    if (tally.records !== options.pages) throw new Error(`${tally.records} records: ${JSON.stringify(counts)}`);
    await stage.stopWorkers();
    const tookMs = await requestTimes(openSqliteStore(join(stage.folder, ".trawl/store.db"), { busyMs: 1000 }), id);
    const seconds = (finishedAt - createdAt) / 1000;
    return {
      "pages/s": Math.round(options.pages / seconds),
      "request p50, ms": Math.round(quantile(tookMs, 0.5)),
      "request p95, ms": Math.round(quantile(tookMs, 0.95)),
      "all fetched after, s": Number(((lastEnd(sites) - createdAt) / 1000).toFixed(1)),
      "all parsed after, s": Number(seconds.toFixed(1)),
    };
  } finally {
    await stage.close();
  }
}

function spider(sites, { pages, busy }) {
  const start = Array.from({ length: pages }, (_, n) => `${sites[n % sites.length].url}/${n}`);
  return `
    export default {
      name: "busy",
      start: ${JSON.stringify(start)},
      politeness: { rate: "unlimited", perSite: 8, robots: false },
      page({ url, emit }) {
        for (const endAt = performance.now() + ${busy}; performance.now() < endAt; );
        emit({ url });
      },
    };`;
}

/** Times from the first byte sent to the last byte read, as measured by the workers. */
async function requestTimes(store, jobId) {
  const times = [];
  for (let after = 0; ; ) {
    const pages = await store.readPages(jobId, after, PAGE);
    times.push(...pages.map(({ tookMs }) => tookMs));
    if (pages.length < PAGE) break;
    after = pages.at(-1).id;
  }
  await store.close();
  return times.sort((one, other) => one - other);
}

function lastEnd(sites) {
  return Math.max(...sites.flatMap(({ log }) => log.map(({ endedAt }) => endedAt ?? 0)));
}

function quantile(sorted, share) {
  return sorted[Math.floor((sorted.length - 1) * share)];
}

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({
    options: { rounds: text, pages: text, busy: text, delay: text, places: text, parsers: text },
  });
  return {
    rounds: readCount("--rounds", values.rounds ?? "3"),
    pages: readCount("--pages", values.pages ?? "400"),
    busy: readCount("--busy", values.busy ?? "20", 0),
    delay: readCount("--delay", values.delay ?? "50", 0),
    places: readCount("--places", values.places ?? "32"),
    parsers: readCount("--parsers", values.parsers ?? "2"),
  };
}
