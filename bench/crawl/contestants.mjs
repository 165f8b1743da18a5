/**
 * The contestants of the crawls. `prepare` installs what is missing and resolves with the version; it throws the reason
 * if the contestant cannot run here. `command` returns the command of one run.
 */

import { spawnSync } from "node:child_process";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cleanEnv, ROOT } from "../harness/folders.mjs";
import { ensurePythonModule } from "../programs/debian.mjs";
import { ensurePackages, packageFolder, readVersion } from "../programs/npm.mjs";
import { findServiceObstacle } from "../services/services.mjs";

const CRAWLEE = ["crawlee@3"];
/**
 * Newer releases of linkedom depend on a package that the registry does not have. CheerioCrawler does not load
 * linkedom.
 */
const CRAWLEE_OVERRIDES = { linkedom: "0.18.12" };
/** The second package is the native part. It is named here because not all releases depend on it. */
const SPIDER_RS = ["@spider-rs/spider-rs", `@spider-rs/spider-rs-${process.platform}-${process.arch}-gnu`];

/** The backends of Trawl: broker and store. */
export const BACKENDS = {
  trawl: { label: "Trawl, embedded, SQLite", services: [] },
  "trawl-redis": { label: "Trawl, Redis, SQLite", services: ["redis"] },
  "trawl-postgres": { label: "Trawl, embedded, PostgreSQL", services: ["postgres"] },
  "trawl-redis-postgres": { label: "Trawl, Redis, PostgreSQL", services: ["redis", "postgres"] },
};

const PEERS = {
  crawlee: { label: "Crawlee", prepare: prepareCrawlee, command: crawleeCommand, keepsRecords: true },
  scrapy: { label: "Scrapy", prepare: prepareScrapy, command: scrapyCommand, keepsRecords: true },
  "spider-rs": { label: "spider-rs", prepare: prepareSpiderRs, command: spiderRsCommand, keepsRecords: false },
};

/**
 * `before` is the folder of another built checkout. With it, each backend of Trawl is followed by the same backend of
 * that checkout. A contestant with `isPeer` is ended after the time budget, because it may need minutes.
 */
export function listContestants(before) {
  const trawls = Object.entries(BACKENDS).flatMap(([name, backend]) => [
    [name, trawlOf(backend, ROOT)],
    ...(before === undefined
      ? []
      : [[name.replace("trawl", "before"), trawlOf({ ...backend, label: `before: ${backend.label}` }, before)]]),
  ]);
  const floor = { label: "floor", services: [], prepare: describeFloor, command: floorCommand, keepsRecords: false };
  const peers = Object.entries(PEERS).map(([name, peer]) => [name, { ...peer, services: [], isPeer: true }]);
  return Object.fromEntries([["floor", floor], ...trawls, ...peers]);
}

function trawlOf({ label, services }, folder) {
  return {
    label,
    services,
    keepsRecords: true,
    isTrawl: true,
    prepare: () => describeTrawl(folder, services),
    command: (run) => trawlCommand(run, folder),
  };
}

async function trawlCommand({ urls, rate, limits, scratch, serviceUrls }, folder) {
  await writeFile(join(scratch, "urls.txt"), `${urls.join("\n")}\n`);
  const { concurrency, perSite } = limits;
  const flags = ["--rate", rate, "--per-site", perSite, "-c", concurrency, "--out", "out.jsonl", "--json", "--quiet"];
  const args = [join(folder, "dist/cli/main.js"), "crawl", "urls.txt", "--follow", "a[href]", ...flags.map(String)];
  return nodeCommand(args, scratch, {
    TRAWL_ALLOW_PRIVATE: "127.0.0.0/8",
    TRAWL_BROKER: serviceUrls.redis ?? `sqlite:${join(scratch, "broker.db")}`,
    TRAWL_STORE: serviceUrls.postgres ?? `sqlite:${join(scratch, "store.db")}`,
  });
}

function floorCommand(run) {
  return nodeCommand([contestantFile("floor.mjs"), optionsOf(run)], ROOT, {});
}

function crawleeCommand(run) {
  const options = optionsOf(run, { folder: packageFolder("crawlee"), out: join(run.scratch, "out.json") });
  return nodeCommand([contestantFile("crawlee.mjs"), options], run.scratch, {
    CRAWLEE_STORAGE_DIR: join(run.scratch, "storage"),
    APIFY_DISABLE_OUTDATED_WARNING: "1",
  });
}

function spiderRsCommand(run) {
  const options = optionsOf(run, { folder: packageFolder("spider-rs"), out: join(run.scratch, "out.jsonl") });
  return nodeCommand([contestantFile("spider-rs.mjs"), options], run.scratch, {});
}

function scrapyCommand(run) {
  const { command, env } = ensurePythonModule("scrapy", "python3-scrapy");
  const args = [contestantFile("scrapy_crawl.py"), optionsOf(run, { out: join(run.scratch, "out.jsonl") })];
  return { command, args, cwd: run.scratch, env: { ...cleanEnv(), ...env } };
}

function optionsOf({ urls, limits, intervalMs }, more) {
  return JSON.stringify({ urls, ...limits, intervalMs, ...more });
}

function contestantFile(name) {
  return join(ROOT, "bench/crawl/contestants", name);
}

function nodeCommand(args, cwd, env) {
  return { command: process.execPath, args, cwd, env: { ...cleanEnv(), ...env } };
}

async function describeFloor() {
  const names = ["undici", "htmlparser2"];
  const versions = await Promise.all(names.map((name) => readVersion(join(ROOT, "node_modules", name))));
  return names.map((name, nth) => `${name} ${versions[nth]}`).join(", ");
}

/** Returns the version with the time of the build, because it is easy to measure an old build by mistake. */
export async function describeTrawl(folder, services = []) {
  for (const service of services) {
    const obstacle = await findServiceObstacle(service);
    if (obstacle !== undefined) throw new Error(obstacle);
  }
  const version = await readVersion(folder);
  const built = await stat(join(folder, "dist/cli/main.js")).catch(() => undefined);
  if (built === undefined) throw new Error("not built: run npm run build");
  return `trawl ${version}, built at ${built.mtime.toISOString()}`;
}

async function prepareCrawlee() {
  return `crawlee ${await ensurePackages("crawlee", CRAWLEE, CRAWLEE_OVERRIDES)}`;
}

async function prepareSpiderRs() {
  return `@spider-rs/spider-rs ${await ensurePackages("spider-rs", SPIDER_RS)}`;
}

async function prepareScrapy() {
  const { command, env } = ensurePythonModule("scrapy", "python3-scrapy");
  const { stdout } = spawnSync(command, ["-c", "import scrapy; print(scrapy.__version__)"], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  return `scrapy ${stdout.trim()}`;
}
