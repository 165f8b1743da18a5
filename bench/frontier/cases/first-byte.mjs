/**
 * Measures the time from the submission of a URL until its request reaches the site. The workers are idle and run in
 * separate processes. Every URL is submitted as a separate job, as a user would do.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../../harness/folders.mjs";
import { loadSubmit } from "../load-trawl.mjs";

const MAIN = join(ROOT, "dist/cli/main.js");
/** The time in which the workers settle the task and become idle again. */
const PAUSE_MS = 40;

export async function measureFirstByte({ open, url, from, workers, samples }) {
  const { frontier } = await open();
  const submit = await loadSubmit(from);
  const arrivals = new Map();
  const site = createServer((request, response) => {
    arrivals.get(request.url)?.(performance.now());
    response.setHeader("content-type", "text/html").end("<title>here</title>");
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const fleet = await startFleet(url, workers);
  try {
    await waitForWorkers(frontier, workers);
    const latencies = [];
    for (let nth = 0; nth < samples; nth++) {
      await sleep(PAUSE_MS);
      const path = `/${nth}`;
      const arrival = new Promise((resolve) => arrivals.set(path, resolve));
      const submittedAt = performance.now();
      await submit(frontier, `http://127.0.0.1:${site.address().port}${path}`);
      latencies.push((await arrival) - submittedAt);
    }
    return percentiles(latencies);
  } finally {
    await fleet.stop();
    site.close();
  }
}

export function percentiles(latencies) {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { samples: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) };
}

async function startFleet(broker, count) {
  const folder = mkdtempSync(join(tmpdir(), "trawl-bench-"));
  const env = { ...process.env, TRAWL_BROKER: broker, TRAWL_STORE: `sqlite:${join(folder, "store.db")}` };
  env.TRAWL_ALLOW_PRIVATE = "127.0.0.0/8";
  const args = [MAIN, "worker", "--quiet"];
  const processes = Array.from({ length: count }, () => spawn(process.execPath, args, { cwd: folder, env }));
  return {
    async stop() {
      for (const one of processes) one.kill("SIGTERM");
      await Promise.all(processes.map((one) => one.exitCode ?? once(one, "exit")));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function waitForWorkers(frontier, count) {
  for (let tries = 0; tries < 300; tries++) {
    if ((await frontier.listWorkers()).length === count) return;
    await sleep(100);
  }
  throw new Error(`${count} workers did not start within 30 s`);
}
