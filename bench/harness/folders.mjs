/** The folders that the benchmarks use. */
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const BENCH_FOLDER = join(ROOT, ".bench");

/**
 * A new empty folder, which the caller removes. It is not in the temporary folder of the system: if that folder is in
 * memory, durable writes would cost nothing.
 */
export async function makeScratch() {
  const parent = join(BENCH_FOLDER, "tmp");
  await mkdir(parent, { recursive: true });
  return mkdtemp(join(parent, "run-"));
}

/** The environment of a contestant. It has no TRAWL_*, NODE_OPTIONS or proxy variables of the caller. */
export function cleanEnv() {
  const kept = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"];
  return Object.fromEntries(kept.filter((name) => name in process.env).map((name) => [name, process.env[name]]));
}
