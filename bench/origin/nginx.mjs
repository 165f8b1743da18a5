/**
 * The origin of the benchmark: nginx serves static pages on many loopback addresses. Every address is one site, and all
 * sites have the same pages. nginx writes one line per request to its access log.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createJiti } from "jiti";
import { BENCH_FOLDER } from "../harness/folders.mjs";
import { guard } from "../harness/guard.mjs";
import { ensureProgram } from "../programs/debian.mjs";
import { parseAccessLog } from "./access-log.mjs";

const SITES_PER_NETWORK = 250;
const FLUSH_MS = 100;
/** The log is complete if it has not grown for this long. Longer than the time after which nginx flushes its buffer. */
const QUIET_MS = 400;
const START_MS = 10_000;
const jiti = createJiti(import.meta.url);

/** The address of a site: 127.0.1.1, 127.0.1.2, … */
export function addressOf(index) {
  return `127.0.${1 + Math.floor(index / SITES_PER_NETWORK)}.${1 + (index % SITES_PER_NETWORK)}`;
}

/**
 * `pages` is a list of `{ path, html }`. With `slow`, one more site sends its responses at `slow.bytesPerS`. `mark`
 * starts a new measurement, and `readRequests` returns the requests since then.
 */
export async function startNginx({ sites, pages, slow }) {
  const { command, env } = ensureProgram("nginx");
  const { findFreePort } = await jiti.import("../../test/services/free-port.ts");
  mkdirSync(join(BENCH_FOLDER, "tmp"), { recursive: true });
  const folder = mkdtempSync(join(BENCH_FOLDER, "tmp/origin-"));
  const port = await findFreePort();
  writePages(folder, pages);
  const addresses = Array.from({ length: sites }, (_, index) => addressOf(index));
  const slowAddress = slow === undefined ? undefined : addressOf(sites);
  const file = join(folder, "nginx.conf");
  writeFileSync(file, configOf({ folder, port, addresses, slowAddress, slow }));
  const child = spawn(command, ["-p", folder, "-e", join(folder, "error.log"), "-c", file], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  guard(child, folder);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  await waitUntilListening(child, addresses[0], port, () => `${stderr}${readIfAny(join(folder, "error.log"))}`);
  const log = join(folder, "access.log");
  let markedAt = 0;

  return {
    port,
    addresses,
    slowAddress,
    paths: pages.map(({ path }) => path),
    pageBytes: pages.reduce((sum, { html }) => sum + Buffer.byteLength(html), 0) / pages.length,
    urls: addresses.map((address) => `http://${address}:${port}/`),
    slowUrl: `http://${slowAddress}:${port}/`,
    pid: child.pid,
    async mark() {
      markedAt = await settledSize(log);
    },
    async readRequests() {
      await settledSize(log);
      return parseAccessLog(readFileSync(log).subarray(markedAt).toString("latin1"));
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.kill("SIGTERM");
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function writePages(folder, pages) {
  for (const { path, html } of pages) {
    const file = join(folder, "pages", path === "/" ? "index.html" : path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, html);
  }
  writeFileSync(join(folder, "pages/robots.txt"), "User-agent: *\nAllow: /\n");
}

function configOf({ folder, port, addresses, slowAddress, slow }) {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path tmp-${name};`,
  );
  const server = (names, extra = "") =>
    `server { ${names.map((name) => `listen ${name}:${port} backlog=4096;`).join(" ")} server_name _; ${extra} }`;
  // Without root, nginx ignores the user. As root, its worker must be able to read the folder of the clone.
  return `daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
events { worker_connections 8192; }
http {
  ${temporary.join(" ")}
  types { text/html html; text/plain txt; }
  default_type text/html;
  charset utf-8;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 300s;
  keepalive_requests 100000000;
  open_file_cache max=10000 inactive=60m;
  open_file_cache_valid 60m;
  log_format bench '$msec $request_time $server_addr $status $request_method $request_uri';
  access_log ${folder}/access.log bench buffer=256k flush=${FLUSH_MS}ms;
  root ${folder}/pages;
  ${server(addresses)}
  ${slowAddress === undefined ? "" : server([slowAddress], `limit_rate ${slow.bytesPerS};`)}
}
`;
}

async function waitUntilListening(child, host, port, describe) {
  for (const endAt = Date.now() + START_MS; ; await sleep(20)) {
    if (await accepts(host, port)) return;
    if (child.exitCode !== null || Date.now() > endAt) throw new Error(`nginx did not start:\n${describe()}`);
  }
}

function accepts(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

async function settledSize(file) {
  for (let before = -1; ; await sleep(QUIET_MS)) {
    const { size } = statSync(file);
    if (size === before) return size;
    before = size;
  }
}

function readIfAny(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // nginx wrote no log
  }
}
