/** Who runs, and with which command. Each is a process of its own, given the site's URL and an empty scratch folder. */
import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const CONCURRENCY = 64;
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const BENCH_HOME = join(ROOT, ".bench");

const TRAWL_MAIN = join(ROOT, "dist/cli/main.js");
const CRAWLEE_HOME = join(BENCH_HOME, "crawlee");
const CRAWLEE_RANGE = "crawlee@3";
const INSTALL_TIMEOUT_MS = 300_000;
const KEPT_ENV = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"];

/** `keepsRecords`: it must also say that it kept one record per page. */
export const CONTESTANTS = {
  floor: { keepsRecords: false, prepare: describeFloor, command: floorCommand },
  trawl: { keepsRecords: true, prepare: describeTrawl, command: trawlCommand },
  "trawl-redis": { keepsRecords: true, prepare: describeTrawl, command: trawlRedisCommand },
  crawlee: { keepsRecords: true, prepare: installCrawlee, command: crawleeCommand },
};

function floorCommand(url) {
  return nodeCommand([contestantFile("floor.mjs"), url, String(CONCURRENCY)], ROOT, {});
}

const CRAWL_WORDS = ["--rate", "unlimited", "--per-site", String(CONCURRENCY), "-c", String(CONCURRENCY), "--json"];

/** The CPU of its Redis counts with its own. */
function trawlRedisCommand(url, scratch) {
  const words = [contestantFile("trawl-redis.mjs"), TRAWL_MAIN, scratch, url, ...CRAWL_WORDS];
  return nodeCommand(words, scratch, {});
}

function trawlCommand(url, scratch) {
  return nodeCommand([TRAWL_MAIN, "crawl", url, ...CRAWL_WORDS], scratch, {
    TRAWL_BROKER: `sqlite:${join(scratch, "broker.db")}`,
    TRAWL_STORE: `sqlite:${join(scratch, "store.db")}`,
  });
}

function crawleeCommand(url, scratch) {
  return nodeCommand([contestantFile("crawlee.mjs"), url, String(CONCURRENCY), CRAWLEE_HOME], scratch, {
    CRAWLEE_STORAGE_DIR: join(scratch, "storage"),
    APIFY_DISABLE_OUTDATED_WARNING: "1",
    APIFY_CLI_DISABLE_TELEMETRY: "1",
  });
}

function contestantFile(name) {
  return join(ROOT, "bench/contestants", name);
}

/** Nothing of the caller's settings reaches a contestant: no TRAWL_*, no NODE_OPTIONS, no proxy. */
function nodeCommand(args, cwd, env) {
  return { command: process.execPath, args, cwd, env: { ...cleanEnv(), ...env } };
}

function cleanEnv() {
  return Object.fromEntries(KEPT_ENV.filter((name) => name in process.env).map((name) => [name, process.env[name]]));
}

async function describeFloor() {
  const [undici, htmlparser2] = await Promise.all(
    ["undici", "htmlparser2"].map((name) => readVersion(join(ROOT, "node_modules", name))),
  );
  return `undici ${undici}, htmlparser2 ${htmlparser2}`;
}

/** Names the time of the build: measuring yesterday's is the easiest mistake to make here. */
async function describeTrawl() {
  const version = await readVersion(ROOT);
  const built = await stat(TRAWL_MAIN).then(
    ({ mtime }) => `built at ${mtime.toISOString()}`,
    () => "not built: npm run build",
  );
  return `trawl ${version}, ${built}`;
}

/** Installs Crawlee into its own folder if it is not there yet. */
async function installCrawlee() {
  const installed = join(CRAWLEE_HOME, "node_modules/crawlee");
  const version = await readVersion(installed).catch(() => undefined);
  if (version !== undefined) return `crawlee ${version}`;

  await mkdir(CRAWLEE_HOME, { recursive: true });
  // Newer linkedom releases depend on a package that the registry does not have; CheerioCrawler never loads linkedom.
  const manifest = { name: "bench-crawlee", private: true, overrides: { linkedom: "0.18.12" } };
  await writeFile(join(CRAWLEE_HOME, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const args = ["install", CRAWLEE_RANGE, "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", CRAWLEE_HOME];
  // With the caller's whole environment: the way to the registry (proxy, certificates) may be described there. The
  // explicit prefix keeps npm from taking the project that `npm run bench` belongs to for its target.
  await promisify(execFile)("npm", args, { cwd: CRAWLEE_HOME, timeout: INSTALL_TIMEOUT_MS }).catch((cause) => {
    throw new Error(`crawlee could not be installed; leave it out with --only floor,trawl\n${cause.stderr}`, { cause });
  });
  return `crawlee ${await readVersion(installed)}`;
}

async function readVersion(folder) {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")).version;
}
