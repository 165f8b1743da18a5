#!/usr/bin/env node
// `node scripts/bench-submit.mjs`: measures how fast the API accepts URLs, compared with a minimal server on the
// same Redis.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median, openStage } from "../bench/fleet/stage.mjs";
import { MAIN } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-submit.mjs [options]
  --rounds N    submissions of 10,000 URLs to each server, alternating (15)
  --stream N    URLs in one stream of lines (1000000)
  --singles N   submissions of one URL, on an idle fleet and during a running job (300)
Exits with 1 if a limit is not met.`;

const LIST = 10_000;
const BARS = { list: 5, streamed: 60_000, growthMb: 100, single: 5 };
const BARE = fileURLToPath(new URL("../bench/submit/bare-server.mjs", import.meta.url));
const JSON_TYPE = { "content-type": "application/json" };
const FAST = { rate: "unlimited", perSite: 16, robots: false };
/** The queue of the running job. No worker serves the queue of the other jobs. */
const QUEUE = "running";
const NDJSON = { "content-type": "application/x-ndjson" };

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { rounds: text, stream: text, singles: text } });
  return {
    rounds: readCount("--rounds", values.rounds ?? "15"),
    stream: readCount("--stream", values.stream ?? "1000000"),
    singles: readCount("--singles", values.singles ?? "300"),
  };
}

async function main(options) {
  await ensureReady();
  const stage = await openStage();
  try {
    const trawl = await stage.server(MAIN, ["serve", "--port", "0", "--json", "--quiet"]);
    const bare = await stage.server(BARE, [stage.redisUrl]);
    const verdicts = [
      await compareLists(trawl, bare, options),
      await compareSingles(stage, trawl, options),
      ...(await measureStream(trawl, options)),
    ];
    for (const { text, isMet } of verdicts) console.log(`${isMet ? "pass" : "FAIL"}  ${text}`);
    return verdicts.every(({ isMet }) => isMet) ? 0 : 1;
  } finally {
    await stage.close();
  }
}

async function compareLists(trawl, bare, { rounds }) {
  const times = { trawl: [], bare: [] };
  for (let round = -1; round <= rounds; round++) {
    const urls = urlsOf(`list${round}`, LIST);
    const trawlMs = await timed(() => post(`${trawl.url}/v1/jobs`, { urls }, LIST));
    const bareMs = await timed(() => post(`${bare.url}/jobs`, { urls }, LIST));
    if (round < 1) continue; // warm-up
    times.trawl.push(trawlMs);
    times.bare.push(bareMs);
  }
  const [ours, theirs] = [median(times.trawl), median(times.bare)];
  const ratio = ours / theirs;
  const text = `10,000 URLs in one request: p50 ${ours.toFixed(1)} ms, bare handler ${theirs.toFixed(1)} ms: ${ratio.toFixed(2)}x (at most ${BARS.list}x)`;
  return { text, isMet: ratio <= BARS.list };
}

/** Compares the latency on an idle fleet with the latency while a worker crawls a large job. */
async function compareSingles(stage, trawl, { singles, stream }) {
  await singleTimes(trawl, 50, "warm");
  const idle = percentile(await singleTimes(trawl, singles, "idle"), 0.99);
  const [site] = await stage.openSites(1, 0);
  const { id } = await post(`${trawl.url}/v1/jobs`, { open: true, queue: QUEUE, politeness: FAST });
  await postLines(`${trawl.url}/v1/jobs/${id}/urls`, site.url, stream);
  const worker = await stage.worker(["--queues", QUEUE, "-c", "16"]);
  const busy = percentile(await singleTimes(trawl, singles, "busy"), 0.99);
  worker.child.kill("SIGTERM");
  await worker.ended;
  const { counts } = await stage.frontier.findJob(id);
  await fetch(`${trawl.url}/v1/jobs/${id}/cancel`, { method: "POST" });
  const ratio = busy / idle;
  const text = `one URL: p99 ${idle.toFixed(1)} ms, ${busy.toFixed(1)} ms during a running job of ${stream} URLs (${counts.done} pages fetched): ${ratio.toFixed(2)}x (at most ${BARS.single}x)`;
  return { text, isMet: ratio <= BARS.single && counts.done > 0 };
}

async function singleTimes(trawl, count, name) {
  const times = [];
  for (let nth = 0; nth < count; nth++) {
    times.push(await timed(() => post(`${trawl.url}/v1/jobs`, { urls: urlsOf(`${name}${nth}`, 1) }, 1)));
    await sleep(5); // real clients pause between requests
  }
  return times;
}

async function measureStream(trawl, { stream }) {
  const { id } = await post(`${trawl.url}/v1/jobs`, { open: true });
  const before = memoryMb(trawl.pid, "VmRSS");
  let max = before;
  const watching = setInterval(() => {
    max = Math.max(max, memoryMb(trawl.pid, "VmRSS"));
  }, 50);
  const ms = await timed(() =>
    postLines(`${trawl.url}/v1/jobs/${id}/urls?last=true`, "https://stream.example", stream),
  );
  clearInterval(watching);
  const perSecond = (stream / ms) * 1000;
  const growth = max - before;
  return [
    {
      text: `${stream} URLs in one stream: ${Math.round(perSecond)} per second (at least ${BARS.streamed})`,
      isMet: perSecond >= BARS.streamed,
    },
    {
      text: `the server grew from ${before.toFixed(0)} MB by ${growth.toFixed(0)} MB during the stream (at most ${BARS.growthMb})`,
      isMet: growth <= BARS.growthMb,
    },
  ];
}

async function post(url, body, accepted) {
  const answer = await fetch(url, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
  const reply = await answer.json();
  if (answer.status !== 202 || (accepted !== undefined && reply.accepted !== accepted)) {
    throw new Error(`${url} answered ${answer.status} ${JSON.stringify(reply).slice(0, 300)}`);
  }
  return reply;
}

async function postLines(url, base, count) {
  const body = ReadableStream.from(linesOf(base, count));
  const answer = await fetch(url, { method: "POST", headers: NDJSON, body, duplex: "half" });
  const reply = await answer.json();
  if (answer.status !== 202 || reply.accepted !== count) {
    throw new Error(`${url} answered ${answer.status} ${JSON.stringify(reply).slice(0, 300)}`);
  }
}

async function* linesOf(base, count) {
  const encoder = new TextEncoder();
  const batch = 2_000;
  for (let from = 0; from < count; from += batch) {
    let text = "";
    for (let nth = from; nth < Math.min(count, from + batch); nth++)
      text += `${base}/catalogue/section-${nth % 97}/product-${nth}.html\n`;
    yield encoder.encode(text);
  }
}

function urlsOf(name, count) {
  return Array.from(
    { length: count },
    (_, nth) => `https://www.shop${nth % 50}.example/catalogue/${name}/product-${nth}.html`,
  );
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function percentile(values, part) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

function memoryMb(pid, field) {
  const [, kilobytes] =
    new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}
