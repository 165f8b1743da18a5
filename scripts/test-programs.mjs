// Fetches or installs the programs that tests start: servers, a browser, and programs to compare with. Prints first
// which programs it will fetch or install, and which tests will be skipped.
import { spawnSync } from "node:child_process";
import { ensurePrograms, isAvailable } from "../test/services/debian-programs.mjs";

/**
 * The programs of each test group. `fetch`: unpacked into node_modules/.cache, without root. `install`: installed with
 * apt-get.
 */
const NEEDS = {
  quick: { fetch: [], install: [] },
  main: { fetch: ["redis-server"], install: ["chromium"] },
  rest: {
    fetch: ["redis-server", "valkey-server", "postgresql", "swift"],
    install: ["chromium", "chromium-headless-shell", "wget", "python3", "python3-doc"],
  },
};

/** Prints the plan, then fetches and installs. Returns the programs that are still missing, each with the reason. */
export function ensureTestPrograms(groups) {
  const plan = planFor(groups);
  printPlan(plan);
  const missing = [...plan.skip];
  missing.push(...ensurePrograms(plan.fetch).map(({ name, because }) => ({ name, because })));
  if (plan.install.length > 0 && !install(plan.install)) {
    missing.push(...plan.install.map((name) => ({ name, because: "apt-get could not install it" })));
  }
  return missing;
}

/** One line for each program without which tests are skipped. */
export function describeMissing(missing) {
  return missing.map(({ name, because }) => `SKIPPED: tests that need ${name} (${because}). ${hintFor(name)}`);
}

function planFor(groups) {
  const needed = (how) => [...new Set(groups.flatMap((group) => NEEDS[group][how]))];
  const fetch = needed("fetch").filter((name) => !isAvailable(name));
  const install = needed("install").filter((name) => !isInstalled(name));
  const hasApt = spawnSync("apt-get", ["--version"]).status === 0;
  const skipAll = (names, because) => names.map((name) => ({ name, because }));
  if (!hasApt) return { fetch: [], install: [], skip: skipAll([...fetch, ...install], "this system has no apt-get") };
  if (process.getuid?.() === 0) return { fetch, install, skip: [] };
  return { fetch, install: [], skip: skipAll(install, "only root can install it") };
}

function printPlan({ fetch, install, skip }) {
  if (fetch.length > 0) console.error(`Will fetch into node_modules/.cache: ${fetch.join(", ")}.`);
  if (install.length > 0) console.error(`Will install with apt-get: ${install.join(", ")}.`);
  for (const line of describeMissing(skip)) console.error(line);
}

function hintFor(name) {
  if (name === "swift") return "They run only on Debian, where this command fetches it.";
  return `To run them, install ${name}; on Debian: sudo apt-get install ${name}`;
}

function isInstalled(name) {
  const { stdout } = spawnSync("dpkg", ["--status", name], { encoding: "utf8" });
  if (/^Status: install ok installed$/m.test(stdout ?? "")) return true;
  return isAvailable(name); // installed without dpkg
}

/** The package lists of a new machine may be empty or too old: they are fetched only if the first attempt fails. */
function install(names) {
  return aptGet("install", ...names) || (aptGet("update") && aptGet("install", ...names));
}

function aptGet(command, ...names) {
  const flags = command === "install" ? ["--yes", "--no-install-recommends"] : [];
  const { status } = spawnSync("apt-get", ["--quiet", command, ...flags, ...names], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    // On stderr, because stdout is for the results of the tests.
    stdio: ["ignore", process.stderr, process.stderr],
  });
  return status === 0;
}
