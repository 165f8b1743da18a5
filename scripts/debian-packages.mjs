// Debian packages that some tests want: other programs to compare with, real pages to read, and a browser.
import { spawnSync } from "node:child_process";
import { ensurePrograms } from "../test/services/debian-programs.mjs";

const WANTED = ["wget", "python3", "python3-doc", "chromium", "chromium-headless-shell"];

/** Installs what is missing where that is possible; otherwise says loudly what will be skipped. */
export function ensureDebianPackages() {
  for (const { name, because } of ensurePrograms()) warn([name], because);
  ensureInstalled();
}

function ensureInstalled() {
  const missing = WANTED.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const obstacle = findObstacle();
  if (obstacle === undefined) {
    console.error(`Installing Debian packages for the tests: ${missing.join(", ")} …`);
    // The package lists of a new machine may be empty or too old: fetch them only if the short way fails.
    if (aptGet("install", ...missing) || (aptGet("update") && aptGet("install", ...missing))) return;
  }
  warn(missing, obstacle ?? "apt-get could not install them");
}

function isInstalled(name) {
  const { stdout } = spawnSync("dpkg", ["--status", name], { encoding: "utf8" });
  return /^Status: install ok installed$/m.test(stdout ?? "");
}

function findObstacle() {
  if (spawnSync("apt-get", ["--version"]).status !== 0) return "there is no apt-get here";
  if (process.getuid?.() !== 0) return "only root may install them";
  return undefined;
}

function aptGet(command, ...names) {
  const flags = command === "install" ? ["--yes", "--no-install-recommends"] : [];
  const { status } = spawnSync("apt-get", ["--quiet", command, ...flags, ...names], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    // On stderr, as everything but the tests' own words.
    stdio: ["ignore", process.stderr, process.stderr],
  });
  return status === 0;
}

function warn(missing, because) {
  const line = "!".repeat(80);
  console.error(`${line}\nMISSING: ${missing.join(", ")} (${because}).`);
  console.error(`Tests that need them are SKIPPED. To run them: apt-get install ${missing.join(" ")}\n${line}`);
}
