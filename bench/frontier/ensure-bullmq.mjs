/** Installs BullMQ into a separate folder on first use, because the project itself does not depend on it. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { BENCH_FOLDER } from "../harness/contestants.mjs";

export const BULLMQ_FOLDER = join(BENCH_FOLDER, "bullmq");

const RANGE = "bullmq@5";
const INSTALL_TIMEOUT_MS = 300_000;

/** Resolves with the installed version. */
export async function ensureBullmq() {
  const version = await readVersion().catch(() => undefined);
  if (version !== undefined) return version;
  await mkdir(BULLMQ_FOLDER, { recursive: true });
  await writeFile(join(BULLMQ_FOLDER, "package.json"), `${JSON.stringify({ name: "bench-bullmq", private: true })}\n`);
  const args = ["install", RANGE, "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", BULLMQ_FOLDER];
  await promisify(execFile)("npm", args, { cwd: BULLMQ_FOLDER, timeout: INSTALL_TIMEOUT_MS }).catch((cause) => {
    throw new Error(`bullmq could not be installed; leave it out with --only trawl,zset\n${cause.stderr}`, { cause });
  });
  return readVersion();
}

async function readVersion() {
  return JSON.parse(await readFile(join(BULLMQ_FOLDER, "node_modules/bullmq/package.json"), "utf8")).version;
}
