/** The requests of the benchmark, and their cost: wall time, and CPU time of the server and its Redis. */
import { readdirSync, readFileSync } from "node:fs";
import { Pool } from "undici";

const JSON_TYPE = { "content-type": "application/json" };
/** Most jobs are small. A job stores up to 500 URLs in its specification. */
const JOB_SIZES = [1, 5, 200];
const CANCELLED_EVERY = 4;

/** Creates the jobs that `list` reads. */
export async function createJobs({ url }, count) {
  for (let nth = 0; nth < count; nth++) {
    const urls = urlsOf(`seed${nth}`, JOB_SIZES[nth % JOB_SIZES.length], 3);
    const { id } = await post(`${url}/v1/jobs`, {
      name: `job ${nth}`,
      urls,
      extract: { title: "h1", price: ".price" },
    });
    if (nth % CANCELLED_EVERY === 0) await fetch(`${url}/v1/jobs/${id}/cancel`, { method: "POST" });
  }
}

/**
 * Reads the 50 newest jobs `requests` times, over `connections` connections. With `isDistinct`, every request has
 * another cursor, so that the server cannot answer it from its cache.
 */
export async function measureList({ url, pids }, { requests, connections, isDistinct }) {
  const pool = new Pool(url, { connections });
  const latencies = [];
  let left = requests;
  const cpuBefore = cpuMs(pids);
  const startedAt = performance.now();
  async function sendRequests() {
    while (left-- > 0) {
      const sentAt = performance.now();
      const path = isDistinct ? `/v1/jobs?cursor=${nextCursor()}` : "/v1/jobs";
      const { statusCode, body } = await pool.request({ method: "GET", path });
      await body.arrayBuffer();
      if (statusCode !== 200) throw new Error(`GET ${url}/v1/jobs answered ${statusCode}`);
      latencies.push(performance.now() - sentAt);
    }
  }
  await Promise.all(Array.from({ length: connections }, sendRequests));
  const wallMs = performance.now() - startedAt;
  const cost = { perSecond: (requests / wallMs) * 1000, cpuMs: (cpuMs(pids) - cpuBefore) / requests };
  await pool.close();
  return { ...cost, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

/** The time in the last cursor, far after the creation of all jobs. */
let cursorAt = 8e15;

/** Returns a cursor that no earlier request had. It does not use the clock, which may return the same time twice. */
function nextCursor() {
  cursorAt += 1;
  return Buffer.from(JSON.stringify({ createdAt: cursorAt })).toString("base64url");
}

/** Submits one job and returns its cost. */
export async function measureSubmit({ url, pids }, urls) {
  const cpuBefore = cpuMs(pids);
  const startedAt = performance.now();
  const { accepted } = await post(`${url}/v1/jobs`, { urls });
  const wallMs = performance.now() - startedAt;
  if (accepted !== urls.length) throw new Error(`${url} accepted ${accepted} of ${urls.length} URLs`);
  return { wallMs, cpuMs: cpuMs(pids) - cpuBefore };
}

/** Returns `count` URLs on `hosts` hosts. The host names contain `name`, so each name has its own hosts. */
export function urlsOf(name, count, hosts) {
  return Array.from(
    { length: count },
    (_, nth) => `https://${name}.shop${nth % hosts}.example/catalogue/product-${nth}.html`,
  );
}

async function post(url, body) {
  const response = await fetch(url, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
  const reply = await response.json();
  if (response.status !== 202)
    throw new Error(`${url} answered ${response.status} ${JSON.stringify(reply).slice(0, 300)}`);
  return reply;
}

/**
 * The CPU time of all running threads of the processes. `schedstat` is exact; the times in `stat` are multiples of 10
 * ms.
 */
function cpuMs(pids) {
  const threads = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((tid) => `/proc/${pid}/task/${tid}/schedstat`),
  );
  return threads.reduce((sum, file) => sum + Number(readFileSync(file, "utf8").split(" ", 1)[0]), 0) / 1e6;
}

function percentile(values, part) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
