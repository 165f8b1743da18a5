/** BullMQ is installed into a folder of its own on first use: the project itself has no need of it. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { BENCH_HOME } from "../harness/contestants.mjs";

export const BULLMQ_HOME = join(BENCH_HOME, "bullmq");

const RANGE = "bullmq@5";
const INSTALL_TIMEOUT_MS = 300_000;

/** Resolves to its version. */
export async function ensureBullmq() {
  const version = await readVersion().catch(() => undefined);
  if (version !== undefined) return version;
  await mkdir(BULLMQ_HOME, { recursive: true });
  await writeFile(join(BULLMQ_HOME, "package.json"), `${JSON.stringify({ name: "bench-bullmq", private: true })}\n`);
  const args = ["install", RANGE, "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", BULLMQ_HOME];
  await promisify(execFile)("npm", args, { cwd: BULLMQ_HOME, timeout: INSTALL_TIMEOUT_MS }).catch((cause) => {
    throw new Error(`bullmq could not be installed; leave it out with --only trawl,zset\n${cause.stderr}`, { cause });
  });
  return readVersion();
}

async function readVersion() {
  return JSON.parse(await readFile(join(BULLMQ_HOME, "node_modules/bullmq/package.json"), "utf8")).version;
}
