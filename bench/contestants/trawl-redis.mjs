/**
 * Runs `trawl crawl` with a Redis broker. This process starts and stops the Redis, so that the measurement includes its
 * CPU time. Arguments: the main file of the command line, a scratch folder, and the arguments of the crawl.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { findProgram } from "../../test/services/debian-programs.mjs";

const [main, scratch, ...args] = process.argv.slice(2);
const port = String(await findFreePort());
const { command, env } = findProgram("redis-server");
// Like the SQLite broker, this Redis confirms a write before the write is flushed to disk.
const settings = ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""];
const redis = spawn(command, ["--bind", "127.0.0.1", "--port", port, "--dir", scratch, ...settings], {
  env: { ...process.env, ...env },
  stdio: ["ignore", "pipe", "inherit"],
});
for await (const chunk of redis.stdout) if (String(chunk).includes("Ready to accept connections")) break;

const crawl = spawn(process.execPath, [main, "crawl", ...args], {
  env: {
    ...process.env,
    TRAWL_BROKER: `redis://127.0.0.1:${port}`,
    TRAWL_STORE: `sqlite:${join(scratch, "store.db")}`,
  },
  stdio: "inherit",
});
const [code] = await once(crawl, "exit");
redis.kill("SIGTERM");
await once(redis, "exit");
process.exitCode = code ?? 1;

/** A port that was free a moment ago. */
async function findFreePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
