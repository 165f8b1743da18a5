/**
 * One process of a race: it leases, simulates fetches and settles until the job has ended. races.test.ts starts it with
 * the arguments `broker, worker name, log file, lease length`. Time, broker and locks are real.
 */
import { openSync, writeSync } from "node:fs";
import type { Grant } from "../../../src/frontier/frontier.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { ALL, settlementOf } from "./makers.ts";
import { openRaceBroker } from "./race-broker.ts";
import type { RaceLine } from "./race-log.ts";

const [address = "", worker = "", logPath = "", leaseMs = ""] = process.argv.slice(2);
const clock = systemClock();
const frontier = await openRaceBroker(address, clock);
const log = openSync(logPath, "a");
const never = new AbortController().signal;
const holding = new Set<Promise<void>>();
/** So low that the load of ten sites needs four processes. With a higher limit, one process might get no tasks. */
const MAX_HELD = 6;

for (;;) {
  await frontier.reap(100);
  const max = MAX_HELD - holding.size;
  const { grants, nextDueAt } = await frontier.lease({ worker, ...ALL, max, leaseMs: Number(leaseMs) });
  for (const grant of grants) {
    const { taskId, token, url, site } = grant;
    note({ kind: "granted", at: clock.now(), worker, taskId, token, url, site });
    const work = runTask(grant).finally(() => holding.delete(work));
    holding.add(work);
  }
  if ((await frontier.findJob("race"))?.finishedAt !== undefined) break;
  await frontier.waitForWork(nextDueAt ?? clock.now() + 100, never);
  if (holding.size === MAX_HELD) await Promise.race(holding);
}
await Promise.all(holding);
await frontier.close();

async function runTask({ taskId, token, url, site, slot: first }: Grant): Promise<void> {
  // Every tenth task misses its slot and reserves another; every seventh is redirected and reserves one more.
  const number = Number(taskId);
  const slot = number % 10 === 0 ? await frontier.reserveSlot(site, first) : first;
  note({ kind: "sent", worker, taskId, token, site, slot });
  if (number % 7 === 0) note({ kind: "sent", worker, taskId, token, site, slot: await frontier.reserveSlot(site) });
  await clock.sleep((number * 7) % 60);
  note({ kind: "ending", at: clock.now(), taskId, token });
  const { states, finished } = await frontier.settle([settlementOf({ taskId, token })]);
  note({ kind: "settled", taskId, token, url, verdict: states[0] === "done" ? "settled" : "stale" });
  for (const jobId of finished) note({ kind: "finished", worker, jobId });
}

function note(line: RaceLine): void {
  writeSync(log, `${JSON.stringify(line)}\n`);
}
