/**
 * Measures how fast the API accepts URLs, on a server with its own Redis. `measureTrawl` measures `trawl serve`, and
 * `measureBare` a minimal server.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median, openStage } from "../fleet/stage.mjs";

const LIST = 10_000;
const LISTS = 15;
const WARM_UP = 2;
const BARE = fileURLToPath(new URL("./bare-server.mjs", import.meta.url));
const JSON_TYPE = { "content-type": "application/json" };
const FAST = { rate: "unlimited", perSite: 16, robots: false };
/** The queue of the running job. No worker serves the queue of the other jobs. */
const QUEUE = "running";
const NDJSON = { "content-type": "application/x-ndjson" };

/** `root` is the checkout whose built Trawl runs. `scale` changes the number of single URLs and of streamed URLs. */
export async function measureTrawl({ root, scale }) {
  const sizes = { singles: Math.max(20, Math.round(300 * scale)), stream: Math.max(10_000, Math.round(1e6 * scale)) };
  const stage = await openStage({ root });
  try {
    const trawl = await stage.server(stage.main, ["serve", "--port", "0", "--json", "--quiet"]);
    const lists = await measureLists(`${trawl.url}/v1/jobs`);
    const singles = await measureSingles(stage, trawl, sizes);
    return { ...lists, ...singles, ...(await measureStream(trawl, sizes)) };
  } finally {
    await stage.close();
  }
}

export async function measureBare() {
  const stage = await openStage();
  try {
    const bare = await stage.server(BARE, [stage.redisUrl]);
    return await measureLists(`${bare.url}/jobs`);
  } finally {
    await stage.close();
  }
}

async function measureLists(url) {
  return {
    listMs: await measureList(url, 50, (nth) => `shop${nth}`),
    oneHostMs: await measureList(url, 1, (nth) => `one${nth}`),
    newHostsMs: await measureList(url, 8_000, (nth, request) => `new${request}-${nth}`),
  };
}

/** The median time of a request with 10,000 URLs. `nameOf` returns the name of the nth host of a request. */
async function measureList(url, hosts, nameOf) {
  const times = [];
  for (let nth = -WARM_UP; nth < LISTS; nth++) {
    const urls = urlsOf(`list${nth}`, LIST, (url) => nameOf(url % hosts, nth + WARM_UP));
    const ms = await timed(() => post(url, { urls }, LIST));
    if (nth >= 0) times.push(ms);
  }
  return median(times);
}

/** The 99th percentile of the latency on an idle fleet, and while a worker crawls a large job. */
async function measureSingles(stage, trawl, { singles, stream }) {
  await singleTimes(trawl, 50, "warm");
  const idleMs = percentile(await singleTimes(trawl, singles, "idle"), 0.99);
  const [site] = await stage.openSites(1, 0);
  const { id } = await post(`${trawl.url}/v1/jobs`, { open: true, queue: QUEUE, politeness: FAST });
  await postLines(`${trawl.url}/v1/jobs/${id}/urls`, site.url, stream);
  const worker = await stage.worker(["--queues", QUEUE, "-c", "16"]);
  const busyMs = percentile(await singleTimes(trawl, singles, "busy"), 0.99);
  worker.child.kill("SIGTERM");
  await worker.ended;
  const { counts } = await stage.frontier.findJob(id);
  await fetch(`${trawl.url}/v1/jobs/${id}/cancel`, { method: "POST" });
  if (counts.done === 0) throw new Error("the worker fetched no page while single URLs were submitted");
  return { idleMs, busyMs };
}

async function singleTimes(trawl, count, name) {
  const times = [];
  for (let nth = 0; nth < count; nth++) {
    times.push(await timed(() => post(`${trawl.url}/v1/jobs`, { urls: urlsOf(`${name}${nth}`, 1) }, 1)));
    await sleep(5); // real clients pause between requests
  }
  return times;
}

/** URLs per second in one stream of lines, and how much the memory of the server grew. */
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
  return { streamPerS: (stream / ms) * 1_000, growthMb: max - before };
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

function urlsOf(name, count, hostOf = (nth) => `shop${nth % 50}`) {
  return Array.from(
    { length: count },
    (_, nth) => `https://www.${hostOf(nth)}.example/catalogue/${name}/product-${nth}.html`,
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
