// Compiles src/ to dist/ and dashboard/ to dist/dashboard/, and detects whether that is needed.
//
// A build writes to a staging folder, then renames its files into place, one by one. So a failed build leaves the old
// dist unchanged, a running Trawl never reads half a file, and two builds at the same time do not conflict.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const SRC = join(ROOT, "src");
export const DASHBOARD = join(ROOT, "dashboard");
export const DIST = join(ROOT, "dist");
export const MAIN = join(DIST, "cli/main.js");

const STAMP = join(DIST, ".build-stamp");
const STAGING = ".staging-";
/** A staging folder older than this belongs to a build that was killed. */
const ABANDONED_MS = 10 * 60_000;
const NODE_MODULES = join(ROOT, "node_modules");
/** npm writes the installed versions to this file. */
export const INSTALLED = join(NODE_MODULES, ".package-lock.json");
const TSC = join(NODE_MODULES, "typescript/bin/tsc");
const VITE = join(NODE_MODULES, "vite/bin/vite.js");
const BIN_LINK = join(NODE_MODULES, ".bin/trawl");
/** Files that the code reads at run time and the compiler does not copy. */
const ASSETS = new Set([".sql", ".lua"]);
/** Files of the dashboard that are compressed. */
const COMPRESSED = new Set([".html", ".js", ".css", ".svg"]);

/** Whether dist/ is up to date. */
export function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === sourceDigest();
}

export function canBuild() {
  return missingPackages().length === 0;
}

/** Packages that a build needs and that are not installed. */
export function missingPackages() {
  return ["typescript", "vite", "preact", "@preact/signals", "uplot"].filter(
    (name) => !existsSync(join(NODE_MODULES, name)),
  );
}

/** Returns false if the build failed. The compiler has printed the reason. */
export function build() {
  // Computed first: a file that changes during the build makes another build necessary.
  const digest = sourceDigest();
  removeAbandonedStagings();
  const staging = join(DIST, `${STAGING}${process.pid}`);
  try {
    const flags = ["-p", join(ROOT, "tsconfig.build.json"), "--outDir", staging, "--noEmitOnError"];
    const { status } = spawnSync(process.execPath, [TSC, ...flags], { cwd: ROOT, stdio: "inherit" });
    if (status !== 0) return false;
    copyAssets(staging);
    if (!bundle(staging)) return false;
    if (!buildDashboard(join(staging, "dashboard"))) return false;
    const made = filesUnder(staging);
    makeExecutable(join(staging, relative(DIST, MAIN)));
    moveIntoPlace(staging, made);
    removeAllBut(new Set(made));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  writeFileSync(STAMP, digest);
  linkBin();
  return true;
}

/** Builds only the dashboard, in a second or two, while you work on it. Does not change the result of `isBuilt`. */
export function buildDashboardAlone() {
  const staging = join(DIST, `${STAGING}${process.pid}`);
  try {
    if (!buildDashboard(join(staging, "dashboard"))) return false;
    moveIntoPlace(staging, filesUnder(staging));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return true;
}

/**
 * Links `trawl` into node_modules/.bin. npx keeps its own link to a clone that it has run in. If npx created that link
 * before the first build, the link stays broken, and npx uses the link in node_modules/.bin instead.
 */
export function linkBin() {
  const target = relative(dirname(BIN_LINK), MAIN);
  const isWanted = process.platform !== "win32" && existsSync(NODE_MODULES) && existsSync(MAIN);
  if (!isWanted || existsSync(BIN_LINK)) return;
  mkdirSync(dirname(BIN_LINK), { recursive: true });
  rmSync(BIN_LINK, { force: true }); // existsSync is false for a broken link
  symlinkSync(target, BIN_LINK);
}

/**
 * A hash of the name, size and time of every source file, and of the installed packages. Unlike a comparison of times,
 * it detects deleted files and files with old dates.
 */
function sourceDigest() {
  const hash = createHash("sha256");
  const sources = [SRC, DASHBOARD].flatMap((folder) =>
    filesUnder(folder)
      .filter((file) => !file.endsWith(".test.ts"))
      .map((file) => join(folder, file)),
  );
  const settings = ["tsconfig.json", "tsconfig.build.json", "scripts/bundle.config.ts"];
  for (const file of [...sources, ...settings.map((name) => join(ROOT, name))]) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(ROOT, file)} ${size} ${mtimeMs}\n`);
  }
  if (existsSync(INSTALLED)) hash.update(readFileSync(INSTALLED)); // the build contains packages
  return hash.digest("hex");
}

/** Paths of all files below a folder, relative to it, sorted. */
function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

function copyAssets(staging) {
  for (const file of filesUnder(SRC).filter((name) => ASSETS.has(extname(name)))) {
    mkdirSync(dirname(join(staging, file)), { recursive: true });
    copyFileSync(join(SRC, file), join(staging, file));
  }
}

/** Bundles the command line and its packages into few files: see bundle.config.ts. */
function bundle(staging) {
  const flags = ["--config", join(ROOT, "scripts/bundle.config.ts"), "--outDir", staging, "--logLevel", "warn"];
  return vite(["build", ROOT, ...flags], staging);
}

/** Also writes compressed files, which the server sends as they are. */
function buildDashboard(folder) {
  const flags = ["--config", join(DASHBOARD, "vite.config.ts"), "--outDir", folder, "--logLevel", "warn"];
  if (!vite(["build", DASHBOARD, ...flags], ROOT)) return false;
  for (const file of filesUnder(folder).filter((name) => COMPRESSED.has(extname(name)))) {
    const plain = readFileSync(join(folder, file));
    for (const [ending, packed] of Object.entries({
      br: brotliCompressSync(plain),
      gz: gzipSync(plain, { level: 9 }),
    })) {
      if (packed.length < plain.length) writeFileSync(join(folder, `${file}.${ending}`), packed);
    }
  }
  return true;
}

/** Returns whether the build succeeded. Always a production build, also when a test starts it. */
function vite(args, cwd) {
  const env = { ...process.env, NODE_ENV: "production" };
  return spawnSync(process.execPath, [VITE, ...args], { cwd, env, stdio: "inherit" }).status === 0;
}

function makeExecutable(file) {
  if (existsSync(file)) chmodSync(file, 0o755);
}

function moveIntoPlace(staging, files) {
  for (const file of files) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    renameSync(join(staging, file), join(DIST, file));
  }
}

function removeAbandonedStagings() {
  if (!existsSync(DIST)) return;
  for (const name of readdirSync(DIST).filter((entry) => entry.startsWith(STAGING))) {
    const folder = join(DIST, name);
    if (Date.now() - statSync(folder).mtimeMs > ABANDONED_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes files of older builds. Staging folders of other builds stay. */
function removeAllBut(made) {
  for (const file of filesUnder(DIST)) {
    if (!file.startsWith(".") && !made.has(file)) rmSync(join(DIST, file), { force: true });
  }
}
