#!/usr/bin/env node
// `node scripts/bench-priority.mjs`: how long an urgent job takes on a fleet whose every place is taken by a large one,
// against the same fleet with nothing else to do. Real Redis, real worker processes, sites on this machine.
import { parseArgs } from "node:util";
import { median, openStage, until } from "../bench/fleet/stage.mjs";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-priority.mjs [options]
  --rounds N   urgent jobs on the idle fleet, and then as many on the busy one (3)
  --batch N    URLs of the large job, queued first (100000)
  --urgent N   URLs of an urgent job (50)
  --delay N    milliseconds that every page takes to answer (200)
Ends with 1 if the median urgent job took more than 1.5 times as long on the busy fleet.`;

/** Two workers for everything, and one that is kept free for what is urgent. */
const FLEET = [
  ["--queues", "high_priority", "-c", "16"],
  ["--queues", "high_priority,fetch", "-c", "32"],
  ["--queues", "high_priority,fetch", "-c", "32"],
];
const PLACES = 64;
const BATCH_SITES = 20;
const URGENT_SITES = 5;
const ROUTES = [{ match: { job: "urgent-*" }, queue: "high_priority", priority: 0 }];
const POLITENESS = ["--follow", "none", "--ignore-robots", "--rate", "20/s", "--burst", "4", "--per-site", "4"];
const BAR = 1.5;

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
    for (const words of FLEET) await stage.worker(words);
    const idleMs = await urgentJobs(stage, urgent, "idle", options);
    const batch = await fill(stage, busy, options);
    const busyMs = await urgentJobs(stage, urgent, "busy", options);
    const { counts } = await stage.frontier.findJob(batch.id);
    return report({ idleMs, busyMs, counts });
  } finally {
    await stage.close();
  }
}

/** How long each takes, from its creation to its end, both by the broker's clock. */
async function urgentJobs(stage, sites, name, { rounds, urgent }) {
  const times = [];
  for (let round = 1; round <= rounds; round++) {
    const file = `${name}-${round}.txt`;
    stage.write(file, urlsOf(sites, `${name}/${round}`, urgent));
    const { id } = await stage.submit([file, "--name", `urgent-${name}-${round}`, ...POLITENESS]);
    const { counts, createdAt, finishedAt } = await stage.finished(id);
    if (counts.done !== urgent) throw new Error(`${counts.done} of ${urgent} urgent pages came`);
    times.push(finishedAt - createdAt);
    console.log(`${name} fleet, urgent job ${round}: ${(finishedAt - createdAt).toFixed(0)} ms`);
  }
  return times;
}

/** Queues the large job, and waits until it has every place. */
async function fill(stage, sites, { batch }) {
  stage.write("batch.txt", urlsOf(sites, "batch", batch));
  const words = ["batch.txt", "--name", "batch", "--follow", "none", "--ignore-robots", "--rate", "unlimited"];
  const job = await stage.submit([...words, "--per-site", "16"]);
  const inFlight = () => sites.flatMap(({ log }) => log.filter(({ endedAt }) => endedAt === undefined)).length;
  await until(() => inFlight() >= PLACES * 0.9, "every place is taken");
  console.log(`busy fleet: ${job.accepted} URLs queued, ${inFlight()} of ${PLACES} places taken`);
  return job;
}

function report({ idleMs, busyMs, counts }) {
  const ratio = median(busyMs) / median(idleMs);
  console.table([
    { fleet: "idle", "median ms": Math.round(median(idleMs)), "all, ms": idleMs.map(Math.round).join(" ") },
    { fleet: "busy", "median ms": Math.round(median(busyMs)), "all, ms": busyMs.map(Math.round).join(" ") },
  ]);
  console.log(`the large job meanwhile: ${counts.done} done, ${counts.queued} still queued`);
  console.log(`ratio ${ratio.toFixed(2)}, at most ${BAR}: ${ratio <= BAR ? "met" : "MISSED"}`);
  return ratio <= BAR && counts.queued > 0 ? 0 : 1;
}

function urlsOf(sites, folder, count) {
  return Array.from({ length: count }, (_, n) => `${sites[n % sites.length].url}/${folder}/${n}`).join("\n");
}

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { rounds: text, batch: text, urgent: text, delay: text } });
  return {
    rounds: readCount("--rounds", values.rounds ?? "3"),
    batch: readCount("--batch", values.batch ?? "100000"),
    urgent: readCount("--urgent", values.urgent ?? "50"),
    delay: readCount("--delay", values.delay ?? "200", 0),
  };
}
