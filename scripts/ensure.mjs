// Installs the packages and builds dist/ if needed. If both are current, this takes a few milliseconds.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { build, canBuild, INSTALLED, isBuilt, linkBin, ROOT } from "./dist.mjs";

const LOCKFILE = join(ROOT, "package-lock.json");

const INSTALL_FLAGS = [
  // No package needs its install script, and starting a clone should not run code of other packages.
  "--ignore-scripts",
  "--include=dev",
  "--no-audit",
  "--no-fund",
  // npm's defaults wait over a minute for a registry that does not answer.
  "--fetch-retry-mintimeout=1000",
  "--fetch-retry-maxtimeout=5000",
];

/** Exits with a message if packages cannot be installed or the build fails. */
export async function ensureReady() {
  if (!arePackagesCurrent() || (!isBuilt() && !canBuild())) await install();
  if (isBuilt()) return linkBin();
  report("Building Trawl …");
  if (!build()) exitWith("The build failed; see the messages above.");
}

/** Whether every package of the lockfile is installed in the locked version. */
function arePackagesCurrent() {
  if (!existsSync(INSTALLED)) return false;
  if (statSync(LOCKFILE).mtimeMs <= statSync(INSTALLED).mtimeMs) return true;
  // A lockfile that git has checked out again is newer, but often has the same content.
  const wanted = readPackages(LOCKFILE);
  const installed = readPackages(INSTALLED);
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" || (installed[path] === undefined ? optional === true : installed[path].version === version),
  );
}

function readPackages(lockfile) {
  return JSON.parse(readFileSync(lockfile, "utf8")).packages;
}

async function install() {
  report("Installing packages (npm ci) …");
  let { code, output } = await npm("ci", ...INSTALL_FLAGS);
  if (code !== 0 && missesOnlyForeignBinaries(output)) {
    report("This registry has no binaries for other platforms; installing the locked versions without them …");
    ({ code, output } = await npm("install", "--no-save", ...INSTALL_FLAGS));
  }
  if (code === 0) return;
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|network/.test(output)) {
    exitWith(
      "The package registry cannot be reached. Check the network, or point npm at a registry you can reach\n" +
        "(npm config get registry; npm config set registry <url>), then run the same command again.",
    );
  }
  exitWith(`npm ci ended with code ${code}; see its messages above.`);
}

/**
 * A mirror may have the binaries of a package for this platform only. `npm ci` then reports the lockfile as incomplete:
 * it names each binary that it cannot find, without a version. Any other message is a real error.
 */
function missesOnlyForeignBinaries(output) {
  const messages = output.match(/(Missing|Invalid): .*/g) ?? [];
  return messages.length > 0 && messages.every((message) => /^Missing: \S+@ from lock file/.test(message));
}

function npm(...args) {
  // Use the npm that runs this script, if any: it may not be on the PATH.
  const { npm_execpath: running = "" } = process.env;
  const [command, ...first] = basename(running) === "npm-cli.js" ? [process.execPath, running] : ["npm"];
  return new Promise((resolve) => {
    const child = spawn(command, [...first, ...args], {
      cwd: ROOT,
      stdio: ["ignore", "inherit", "pipe"],
      shell: process.platform === "win32" && command === "npm",
    });
    let output = "";
    child.stderr.on("data", (chunk) => {
      output += chunk;
      process.stderr.write(chunk);
    });
    child.on("error", (error) => resolve({ code: 127, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** On stderr: stdout belongs to the command that follows. */
function report(message) {
  console.error(message);
}

function exitWith(message) {
  console.error(`\n${message}`);
  process.exit(1);
}
