/**
 * The contestants and their commands. Each runs in its own process, with the URL of the site and an empty scratch
 * folder.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const CONCURRENCY = 64;
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const BENCH_FOLDER = join(ROOT, ".bench");

const TRAWL_MAIN = join(ROOT, "dist/cli/main.js");
const CRAWLEE_FOLDER = join(BENCH_FOLDER, "crawlee");
const CRAWLEE_RANGE = "crawlee@3";
const INSTALL_TIMEOUT_MS = 300_000;
const KEPT_ENV = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"];

/** With `keepsRecords`, a contestant must also report that it stored one record per page. */
export const CONTESTANTS = {
  floor: { keepsRecords: false, prepare: describeFloor, command: floorCommand },
  trawl: { keepsRecords: true, prepare: describeTrawl, command: trawlCommand },
  "trawl-redis": { keepsRecords: true, prepare: describeTrawl, command: trawlRedisCommand },
  crawlee: { keepsRecords: true, prepare: installCrawlee, command: crawleeCommand },
};

/** Adds the Trawl that is built in another checkout, to compare two versions in one run: `before`, `before-redis`. */
export function addBefore(folder) {
  const main = join(folder, "dist/cli/main.js");
  const prepare = () => describeTrawl(folder);
  CONTESTANTS.before = { keepsRecords: true, prepare, command: (url, scratch) => trawlCommand(url, scratch, main) };
  CONTESTANTS["before-redis"] = {
    ...CONTESTANTS.before,
    command: (url, scratch) => trawlRedisCommand(url, scratch, main),
  };
}

function floorCommand(url) {
  return nodeCommand([contestantFile("floor.mjs"), url, String(CONCURRENCY)], ROOT, {});
}

const CRAWL_FLAGS = ["--rate", "unlimited", "--per-site", String(CONCURRENCY), "-c", String(CONCURRENCY), "--json"];

/** The measurement includes the CPU time of its Redis. */
function trawlRedisCommand(url, scratch, main = TRAWL_MAIN) {
  const args = [contestantFile("trawl-redis.mjs"), main, scratch, url, ...CRAWL_FLAGS];
  return nodeCommand(args, scratch, {});
}

function trawlCommand(url, scratch, main = TRAWL_MAIN) {
  return nodeCommand([main, "crawl", url, ...CRAWL_FLAGS], scratch, {
    TRAWL_BROKER: `sqlite:${join(scratch, "broker.db")}`,
    TRAWL_STORE: `sqlite:${join(scratch, "store.db")}`,
  });
}

function crawleeCommand(url, scratch) {
  return nodeCommand([contestantFile("crawlee.mjs"), url, String(CONCURRENCY), CRAWLEE_FOLDER], scratch, {
    CRAWLEE_STORAGE_DIR: join(scratch, "storage"),
    APIFY_DISABLE_OUTDATED_WARNING: "1",
    APIFY_CLI_DISABLE_TELEMETRY: "1",
  });
}

function contestantFile(name) {
  return join(ROOT, "bench/contestants", name);
}

/** The environment of the caller (TRAWL_*, NODE_OPTIONS, proxies) is not passed to a contestant. */
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

/** Contains the time of the build, because it is easy to measure an old build by mistake. */
async function describeTrawl(folder = ROOT) {
  const version = await readVersion(folder);
  const built = await stat(join(folder, "dist/cli/main.js")).then(
    ({ mtime }) => `built at ${mtime.toISOString()}`,
    () => "not built: npm run build",
  );
  return `trawl ${version}, ${built}`;
}

/** Installs Crawlee into its own folder if it is not installed yet. */
async function installCrawlee() {
  const installed = join(CRAWLEE_FOLDER, "node_modules/crawlee");
  const version = await readVersion(installed).catch(() => undefined);
  if (version !== undefined) return `crawlee ${version}`;

  await mkdir(CRAWLEE_FOLDER, { recursive: true });
  // Newer linkedom releases depend on a package that the registry does not have; CheerioCrawler never loads linkedom.
  const manifest = { name: "bench-crawlee", private: true, overrides: { linkedom: "0.18.12" } };
  await writeFile(join(CRAWLEE_FOLDER, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const args = ["install", CRAWLEE_RANGE, "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", CRAWLEE_FOLDER];
  // Uses the whole environment of the caller, which may configure access to the registry (proxy, certificates). Without
  // the explicit prefix, npm would install into the project of `npm run bench`.
  await promisify(execFile)("npm", args, { cwd: CRAWLEE_FOLDER, timeout: INSTALL_TIMEOUT_MS }).catch((cause) => {
    throw new Error(`crawlee could not be installed; leave it out with --only floor,trawl\n${cause.stderr}`, { cause });
  });
  return `crawlee ${await readVersion(installed)}`;
}

async function readVersion(folder) {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")).version;
}
