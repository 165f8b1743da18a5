/**
 * One process of a race: it leases, simulates fetches and settles until the job has ended. races.test.ts starts it with
 * the arguments `broker, worker name, log file, lease length`. Time, broker and locks are real, and so are the lease
 * loop and the pacer.
 */
import { openSync, writeSync } from "node:fs";
import { claimOf, type Grant } from "../../../src/frontier/frontier.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createLeaseLoop } from "../../../src/worker/loop/lease-loop.ts";
import { createPacer } from "../../../src/worker/pace/pacer.ts";
import { settlementOf } from "./makers.ts";
import { openRaceBroker } from "./race-broker.ts";
import type { RaceLine } from "./race-log.ts";

const [address = "", worker = "", logPath = "", leaseMs = ""] = process.argv.slice(2);
const clock = systemClock();
const frontier = await openRaceBroker(address, clock);
const log = openSync(logPath, "a");
const never = new AbortController().signal;
/** So low that the load of ten sites needs four processes. With higher limits, one process might get no tasks. */
const CONCURRENCY = 6;
const MAX_HELD = 12;
const pacer = createPacer({ frontier, clock }, { worker, concurrency: CONCURRENCY });
const queues = ["fetch"];

const loop = createLeaseLoop(
  { frontier, pacer, run: runTask, settler: { settle, flush: async () => {} }, clock },
  {
    ...{ worker, queues, queueLimits: [{ queues, tasks: MAX_HELD }], concurrency: CONCURRENCY },
    ...{ leaseMs: Number(leaseMs), graceMs: 0, maxTasks: Number.POSITIVE_INFINITY },
  },
);
loop.start();
while ((await frontier.findJob("race"))?.finishedAt === undefined) {
  await frontier.reap(100);
  await clock.sleep(50);
}
await loop.stop();
await frontier.close();

async function runTask({ taskId, token, url, site }: Grant): Promise<Grant> {
  const number = Number(taskId);
  note({ kind: "granted", at: clock.now(), worker, taskId, token, url, site });
  // Every tenth task is slow to open its connection; every seventh sends a second request, as after a stale connection.
  if (number % 10 === 0) await clock.sleep(number % 50);
  await send({ taskId, token, site });
  if (number % 7 === 0) await send({ taskId, token, site });
  await clock.sleep((number * 7) % 60);
  note({ kind: "ending", at: clock.now(), taskId, token });
  return { taskId, token, url, site } as Grant;
}

async function send({ taskId, token, site }: Pick<Grant, "taskId" | "token" | "site">): Promise<void> {
  for (;;) {
    await pacer.allowance.turn(site, never);
    const at = clock.now();
    if (pacer.allowance.trySend(site)) return note({ kind: "sent", at, worker, taskId, token, site });
    pacer.allowance.unsent(site);
  }
}

async function settle(grant: Grant): Promise<void> {
  pacer.settling(grant);
  const { states, finished } = await frontier.settle([settlementOf(grant)]);
  const { taskId, token, url } = { ...claimOf(grant), url: grant.url };
  note({ kind: "settled", taskId, token, url, verdict: states[0] === "done" ? "settled" : "stale" });
  for (const jobId of finished) note({ kind: "finished", worker, jobId });
}

function note(line: RaceLine): void {
  writeSync(log, `${JSON.stringify(line)}\n`);
}
