// Makes a clone ready to run: packages installed, dist built. Does nothing, in a few milliseconds, where both are.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { build, canBuild, INSTALLED, isBuilt, linkBin, ROOT } from "./dist.mjs";

const LOCKFILE = join(ROOT, "package-lock.json");

const INSTALL_FLAGS = [
  // Nothing we use needs an install script, and a clone should not run strangers' code just to start.
  "--ignore-scripts",
  "--include=dev",
  "--no-audit",
  "--no-fund",
  // npm's own patience with a registry that does not answer is over a minute.
  "--fetch-retry-mintimeout=1000",
  "--fetch-retry-maxtimeout=5000",
];

/** Ends the process with a message if the clone cannot be made ready. */
export async function ensureReady() {
  if (!arePackagesCurrent() || (!isBuilt() && !canBuild())) await install();
  if (isBuilt()) return linkBin();
  say("Building Trawl …");
  if (!build()) giveUp("The build failed; the messages above say where.");
}

/** Whether every package of the lockfile is installed in its version. */
function arePackagesCurrent() {
  if (!existsSync(INSTALLED)) return false;
  if (statSync(LOCKFILE).mtimeMs <= statSync(INSTALLED).mtimeMs) return true;
  // A newer lockfile is often the same one, checked out again.
  const wanted = readPackages(LOCKFILE);
  const there = readPackages(INSTALLED);
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" || (there[path] === undefined ? optional === true : there[path].version === version),
  );
}

function readPackages(lockfile) {
  return JSON.parse(readFileSync(lockfile, "utf8")).packages;
}

async function install() {
  say("Installing packages (npm ci) …");
  let { code, words } = await npm("ci", ...INSTALL_FLAGS);
  if (code !== 0 && lacksOnlyForeignBinaries(words)) {
    say("This registry lacks binaries for other platforms; installing the locked versions without them …");
    ({ code, words } = await npm("install", "--no-save", ...INSTALL_FLAGS));
  }
  if (code === 0) return;
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|network/.test(words)) {
    giveUp(
      "The package registry cannot be reached. Check the network, or point npm at a registry you can reach\n" +
        "(npm config get registry; npm config set registry <url>), then run the same command again.",
    );
  }
  giveUp(`npm ci ended with code ${code}; its messages above say why.`);
}

/**
 * A mirror may hold a package's binary for this platform only. `npm ci` then takes the lockfile, written from the same
 * mirror, for incomplete: it names each binary it cannot find, without a version. Any other complaint is a real one.
 */
function lacksOnlyForeignBinaries(words) {
  const complaints = words.match(/(Missing|Invalid): .*/g) ?? [];
  return complaints.length > 0 && complaints.every((complaint) => /^Missing: \S+@ from lock file/.test(complaint));
}

function npm(...words) {
  // The npm that is running us, if it is npm; it may not be on the PATH.
  const { npm_execpath: running = "" } = process.env;
  const [command, ...first] = basename(running) === "npm-cli.js" ? [process.execPath, running] : ["npm"];
  return new Promise((resolve) => {
    const child = spawn(command, [...first, ...words], {
      cwd: ROOT,
      stdio: ["ignore", "inherit", "pipe"],
      shell: process.platform === "win32" && command === "npm",
    });
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
      process.stderr.write(chunk);
    });
    child.on("error", (error) => resolve({ code: 127, words: error.message }));
    child.on("close", (code) => resolve({ code, words: said }));
  });
}

/** On stderr: the command that follows owns stdout. */
function say(words) {
  console.error(words);
}

function giveUp(words) {
  console.error(`\n${words}`);
  process.exit(1);
}
