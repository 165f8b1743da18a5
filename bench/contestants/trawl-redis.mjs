/**
 * `trawl crawl` with its frontier on a Redis of its own, which is started here and ends here: its CPU counts with ours.
 * Called with the command line's main file, a scratch folder, and the words of the crawl.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { findProgram } from "../../test/services/debian-programs.mjs";

const [main, scratch, ...words] = process.argv.slice(2);
const port = String(await takeFreePort());
const { command, env } = findProgram("redis-server");
// As durable as the embedded broker, which leaves flushing to the system as well.
const settings = ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""];
const redis = spawn(command, ["--bind", "127.0.0.1", "--port", port, "--dir", scratch, ...settings], {
  env: { ...process.env, ...env },
  stdio: ["ignore", "pipe", "inherit"],
});
for await (const chunk of redis.stdout) if (String(chunk).includes("Ready to accept connections")) break;

const crawl = spawn(process.execPath, [main, "crawl", ...words], {
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

/** A port that nobody listened on a moment ago. */
async function takeFreePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
