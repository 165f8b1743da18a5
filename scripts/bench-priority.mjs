#!/usr/bin/env node
// `node scripts/bench-priority.mjs`: measures how long an urgent job takes on a fleet that is busy with a large job,
// compared with the same fleet when it is idle. Uses a real Redis, real worker processes, and sites on this machine.
import { parseArgs } from "node:util";
import { median, openStage, until } from "../bench/fleet/stage.mjs";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-priority.mjs [options]
  --rounds N   urgent jobs on the idle fleet and on the busy one, alternating (7)
  --batch N    URLs of the large job, queued first (100000)
  --urgent N   URLs of an urgent job (50)
  --delay N    milliseconds that every page takes to answer (200)
  --shared     the workers of the large job also fetch urgent pages
Exits with 1 if the median urgent job took more than 1.5 times as long on the busy fleet.`;

/** One worker runs only urgent jobs. Two workers run the other jobs, and with `--shared` also urgent ones. */
const fleetOf = ({ shared }) => [
  ["--queues", "high_priority", "-c", "16"],
  ...Array(2).fill(["--queues", shared ? "high_priority,fetch" : "fetch", "-c", "32"]),
];
const CAPACITY = 64;
const BATCH_SITES = 20;
const URGENT_SITES = 5;
const ROUTES = [{ match: { job: "urgent-*" }, queue: "high_priority", priority: 0 }];
const POLITENESS = ["--follow", "none", "--ignore-robots", "--rate", "20/s", "--burst", "4", "--per-site", "4"];
const MAX_RATIO = 1.5;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  await ensureReady();
  const stage = await openStage();
  try {
    stage.write("trawl.config.mjs", `export default { routes: ${JSON.stringify(ROUTES)} };`);
    const [busy, urgent] = [
      await stage.openSites(BATCH_SITES, options.delay),
      await stage.openSites(URGENT_SITES, options.delay),
    ];
    for (const args of fleetOf(options)) await stage.worker(args);
    const batch = await queueBatch(stage, busy, options);
    const times = { idle: [], busy: [] };
    for (let round = 1; round <= options.rounds; round++) {
      // Alternating, so that other load on the machine affects both.
      for (const fleet of round % 2 === 1 ? ["idle", "busy"] : ["busy", "idle"]) {
        await make(fleet, stage, busy, batch.id);
        times[fleet].push(await urgentJob(stage, urgent, `${fleet}-${round}`, options));
      }
    }
    const { counts } = await stage.frontier.findJob(batch.id);
    return report({ idleMs: times.idle, busyMs: times.busy, counts });
  } finally {
    await stage.close();
  }
}

/** Queues the large job and pauses it. */
async function queueBatch(stage, sites, { batch }) {
  stage.write("batch.txt", urlsOf(sites, "batch", batch));
  const args = ["batch.txt", "--name", "batch", "--follow", "none", "--ignore-robots", "--rate", "unlimited"];
  const job = await stage.submit([...args, "--per-site", "16"]);
  await stage.frontier.pause(job.id);
  console.log(`${job.accepted} URLs of the large job are queued`);
  return job;
}

/** Makes the fleet busy or idle. Busy: the large job uses all capacity. Idle: it is paused and has no running task. */
async function make(fleet, { frontier }, sites, jobId) {
  const inFlight = () => sites.flatMap(({ log }) => log.filter(({ endedAt }) => endedAt === undefined)).length;
  if (fleet === "idle") {
    await frontier.pause(jobId);
    await until(async () => (await frontier.findJob(jobId)).counts.leased === 0, "the fleet is idle");
  } else {
    await frontier.resume(jobId);
    await until(() => inFlight() >= CAPACITY * 0.9, "the fleet is busy");
  }
}

/** Time from the creation of the job to its end, by the broker's clock. */
async function urgentJob(stage, sites, name, { urgent }) {
  stage.write(`${name}.txt`, urlsOf(sites, name, urgent));
  const { id } = await stage.submit([`${name}.txt`, "--name", `urgent-${name}`, ...POLITENESS]);
  const { counts, createdAt, finishedAt } = await stage.finished(id);
  if (counts.done !== urgent) throw new Error(`${counts.done} of ${urgent} urgent pages are done`);
  console.log(`urgent job ${name}: ${(finishedAt - createdAt).toFixed(0)} ms`);
  return finishedAt - createdAt;
}

function report({ idleMs, busyMs, counts }) {
  const ratio = median(busyMs) / median(idleMs);
  console.table([
    { fleet: "idle", "median ms": Math.round(median(idleMs)), "all, ms": idleMs.map(Math.round).join(" ") },
    { fleet: "busy", "median ms": Math.round(median(busyMs)), "all, ms": busyMs.map(Math.round).join(" ") },
  ]);
  console.log(`the large job: ${counts.done} done, ${counts.queued} still queued`);
  console.log(`ratio ${ratio.toFixed(2)}, at most ${MAX_RATIO}: ${ratio <= MAX_RATIO ? "met" : "MISSED"}`);
  return ratio <= MAX_RATIO && counts.queued > 0 ? 0 : 1;
}

function urlsOf(sites, folder, count) {
  return Array.from({ length: count }, (_, n) => `${sites[n % sites.length].url}/${folder}/${n}`).join("\n");
}

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({
    options: { rounds: text, batch: text, urgent: text, delay: text, shared: { type: "boolean" } },
  });
  return {
    rounds: readCount("--rounds", values.rounds ?? "7"),
    batch: readCount("--batch", values.batch ?? "100000"),
    urgent: readCount("--urgent", values.urgent ?? "50"),
    delay: readCount("--delay", values.delay ?? "200", 0),
    shared: values.shared === true,
  };
}
