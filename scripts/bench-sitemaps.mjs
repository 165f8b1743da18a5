/**
 * Measures how fast a worker reads the sitemaps of a large site, and how much its memory grows:
 *
 *   node scripts/bench-sitemaps.mjs [--files 10] [--urls 50000] [--broker redis] [--profile FOLDER]
 *
 * The broker is SQLite (the default), a Redis that the benchmark starts (`redis`), or a connection URL. With --profile,
 * the worker writes a CPU profile.
 *
 * A local server serves an index of gzip files. The pages belong to another site with a rate of one page per hour, so
 * the worker spends its time on sitemaps. Uses dist/: run `npm run build` first, and use an idle machine.
 */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { createJiti } from "jiti";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "10" },
    urls: { type: "string", default: "50000" },
    broker: { type: "string", default: "" },
    profile: { type: "string" },
    serve: { type: "boolean", default: false },
  },
});
const [files, urls] = [Number(values.files), Number(values.urls)];
const MAIN = new URL("../dist/cli/main.js", import.meta.url).pathname;

if (values.serve) await serve();
else await measure();

/** Serves the sitemaps, in a process of its own. */
async function serve() {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address();
  const bodies = new Map([["/robots.txt", ""]]);
  const names = Array.from({ length: files }, (_, file) => `/sitemap-${file}.xml.gz`);
  names.forEach((name, file) => {
    const entries = Array.from(
      { length: urls },
      (_, nth) =>
        `<url><loc>https://pages.bench.test/catalogue/${file}/product-${nth * 7919}.html</loc><lastmod>2026-01-31</lastmod></url>`,
    );
    bodies.set(name, gzipSync(`<?xml version="1.0" encoding="UTF-8"?><urlset>${entries.join("\n")}</urlset>`));
  });
  const index = names.map((name) => `<sitemap><loc>http://127.0.0.1:${port}${name}</loc></sitemap>`);
  bodies.set("/index.xml", `<sitemapindex>${index.join("")}</sitemapindex>`);
  server.on("request", (request, response) => {
    const body = bodies.get(request.url);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  process.send(port);
}

async function measure() {
  const cwd = mkdtempSync(join(tmpdir(), "trawl-sitemaps-"));
  const server = fork(new URL(import.meta.url), ["--serve", "--files", values.files, "--urls", values.urls]);
  const [port] = await once(server, "message");
  const redis = values.broker === "redis" ? await startRedis() : undefined;
  const broker = redis?.url ?? (values.broker === "" ? `sqlite:${join(cwd, "broker.db")}` : values.broker);
  const env = {
    ...{ ...process.env, TRAWL_BROKER: broker, TRAWL_STORE: `sqlite:${join(cwd, "store.db")}`, TRAWL_POOL: "solo" },
    ...{ TRAWL_CONCURRENCY: "20", TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_BROKER_PREFIX: `bench-${process.pid}` },
  };
  const profiling = values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`];
  const workerArgs = [...profiling, MAIN, "worker", "--queues", "fetch"];
  const worker = spawn(process.execPath, workerArgs, { cwd, env, stdio: "ignore" });
  try {
    await sleep(3_000); // the worker has started
    const frontier = await openFrontier(broker, env.TRAWL_BROKER_PREFIX);
    await frontier.setSitePolicy("pages.bench.test", { intervalMs: 3_600_000, burst: 1, perSite: 1 });
    const startRss = rssOf(worker.pid);
    const job = {
      sitemaps: [`http://127.0.0.1:${port}/index.xml`],
      follow: { scope: "any", maxDepth: 1 },
      politeness: { rate: "unlimited", robots: false },
    };
    writeFileSync(join(cwd, "job.json"), JSON.stringify(job));
    const startCpu = cpuSecondsOf(worker.pid);
    const startRedisCpu = redis === undefined ? 0 : cpuSecondsOf(redis.pid);
    const startedAt = Date.now();
    const id = JSON.parse(await output(["submit", "job.json", "--json"], { cwd, env })).id;
    let [peak, discovered] = [startRss, 0];
    const sampling = setInterval(() => {
      peak = Math.max(peak, rssOf(worker.pid));
    }, 20);
    while (discovered < files * urls + files) {
      await sleep(100);
      const { counts } = await frontier.findJob(id);
      discovered = counts.discovered;
      if (counts.dead > 0) throw new Error(`${counts.dead} sitemaps failed`);
    }
    const seconds = (Date.now() - startedAt) / 1000;
    clearInterval(sampling);
    await frontier.close();
    const cpu = cpuSecondsOf(worker.pid) - startCpu;
    const redisCpu = redis === undefined ? 0 : cpuSecondsOf(redis.pid) - startRedisCpu;
    const perUrl = (seconds) => `${((seconds / files / urls) * 1e6).toFixed(1)} µs per URL`;
    const brokerCpu = redis === undefined ? "" : `, Redis CPU ${perUrl(redisCpu)}`;
    const growth = (peak - startRss) / 2 ** 20;
    console.log(
      `${files} files x ${urls} URLs, ${broker.split(":")[0]}: ${seconds.toFixed(1)} s, ${Math.round((files * urls) / seconds)} URLs/s, worker CPU ${perUrl(cpu)}${brokerCpu}, RSS ${(startRss / 2 ** 20).toFixed(0)} MB + ${growth.toFixed(0)} MB`,
    );
  } finally {
    worker.kill(values.profile === undefined ? "SIGKILL" : "SIGTERM");
    server.kill("SIGKILL");
    await once(worker, "exit");
    await redis?.stop();
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function startRedis() {
  const services = await createJiti(import.meta.url).import("../test/services/redis.ts");
  return services.startRedis();
}

async function output(args, options) {
  const child = spawn(process.execPath, [MAIN, ...args], { ...options, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  await once(child, "close");
  return text.trim().split("\n").at(-1);
}

async function openFrontier(broker, prefix) {
  const clock = (await import("../dist/runtime/clock.js")).systemClock();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const shared = { maxPending: 1, pollMs: 1_000 };
  if (broker.startsWith("sqlite:")) {
    const { openSqliteFrontier } = await import("../dist/frontier/sqlite/open.js");
    return openSqliteFrontier(broker.slice(7), { clock }, { ...shared, busyMs: 5_000 });
  }
  const { openRedisFrontier } = await import("../dist/frontier/redis/open.js");
  return openRedisFrontier(broker, { clock, log }, { ...shared, prefix, shards: 1, retryForMs: 5_000, time: "broker" });
}

function cpuSecondsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100; // user and system time, in ticks of 10 ms
}

function rssOf(pid) {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) * 1024;
}
