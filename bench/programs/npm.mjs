/** Installs packages of other projects into a separate folder on first use: this project does not depend on them. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { BENCH_FOLDER } from "../harness/folders.mjs";

const INSTALL_TIMEOUT_MS = 300_000;

export function packageFolder(name) {
  return join(BENCH_FOLDER, name);
}

/**
 * Installs `packages` into .bench/NAME, unless the first one is already there. Resolves with the version of the first
 * one. `overrides` is the field of package.json.
 */
export async function ensurePackages(name, packages, overrides = {}) {
  const folder = packageFolder(name);
  const [first] = packages;
  const installed = join(folder, "node_modules", first.replace(/(?<=.)@.*$/, ""));
  const version = await readVersion(installed).catch(() => undefined);
  if (version !== undefined) return version;
  await mkdir(folder, { recursive: true });
  const manifest = { name: `bench-${name}`, private: true, overrides };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const args = ["install", ...packages, "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder];
  // Uses the whole environment of the caller, which may configure access to the registry (proxy, certificates). Without
  // the explicit prefix, npm would install into the project of `npm run bench`.
  await promisify(execFile)("npm", args, { cwd: folder, timeout: INSTALL_TIMEOUT_MS }).catch((cause) => {
    throw new Error(`${packages.join(" ")} could not be installed: ${lastLine(cause.stderr)}`, { cause });
  });
  return readVersion(installed);
}

export async function readVersion(folder) {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")).version;
}

function lastLine(text = "") {
  const lines = text.split("\n").filter((line) => /npm (error|ERR!)/.test(line));
  return lines[0] ?? "npm failed";
}
