/** Schedulers in separate processes, on real files and in real time, killed with SIGKILL again and again. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/compose/app.ts";
import { composeSchedules } from "../../src/compose/schedules.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { seededRandom } from "../chaos/seeded-random.ts";
import { newFolder } from "../e2e/folder.ts";
import { useProgram } from "../services/program.ts";
import { waitUntil } from "../services/wait-until.ts";
import { occurrencesByWall } from "./oracle.ts";

const program = useProgram(new URL("./scheduler-process.ts", import.meta.url));
const CLAIM_MS = 1_000;
const MIN_KILLS = 8;
/** About twelve occurrences are due per second, so more than 100 in this time. */
const MIN_DURATION_MS = 11_000;

describe("schedulers that are killed", () => {
  it("fire every occurrence of every schedule once", async () => {
    const seed = Math.floor(Math.random() * 1_000_000);
    const random = seededRandom(seed);
    const folder = newFolder();
    const places = { store: `sqlite:${join(folder, "store.db")}`, broker: `sqlite:${join(folder, "broker.db")}` };
    const config = resolveConfig([{ from: "test", values: { ...places, bodies: "none", logLevel: "silent" } }]);
    const trawl = await openApp(config, () => {});
    onTestFinished(() => trawl.close());
    const { schedules } = composeSchedules(config, trawl);
    // With overlap `replace`, no occurrence is skipped or waits. With catch-up `all`, missed occurrences are fired
    // later.
    const policies = { overlap: "replace", catchUp: "all", maxCatchUp: 1_000 } as const;
    const made = [];
    for (let n = 0; n < 20; n += 1) {
      const job = { urls: [`http://site-${n}.test/`] };
      made.push(await schedules.add({ every: `${1 + (n % 3)}s`, ...policies, job }, undefined));
    }

    const running = [await startScheduler(places), await startScheduler(places), await startScheduler(places)];
    onTestFinished(() => void running.map((child) => child.kill("SIGKILL")));
    const minEndAt = Date.now() + MIN_DURATION_MS;
    let kills = 0;
    for (; kills < MIN_KILLS || Date.now() < minEndAt; kills += 1) {
      const victim = random.between(0, running.length - 1);
      const until = Date.now() + random.between(0, 1_500); // at any point of its work
      await waitUntil(() => Date.now() >= until, 2_000);
      const child = running[victim] as ChildProcess;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
      running[victim] = await startScheduler(places);
    }
    const endAt = Date.now();
    const isSettled = await waitUntil(async () => {
      const found = await trawl.store.schedules.list(undefined, 100, "");
      if (found.some(({ doneUntil }) => doneUntil < endAt)) return false;
      const occurrences = await Promise.all(
        found.map(({ id }) => trawl.store.schedules.listOccurrences(id, 5_000, endAt + 1)),
      );
      return occurrences.flat().every(({ state }) => state !== "waiting" && state !== "firing");
    }, 60_000);
    expect(isSettled).toBe(true);

    const all = await trawl.frontier.listJobs(100_000);
    // Schedules continue: later occurrences may be in progress.
    const jobs = all.filter(({ spec }) => (spec.slot?.at ?? 0) <= endAt);
    const fired = made.map(({ id }) =>
      jobs
        .flatMap(({ spec }) => spec.slot ?? [])
        .filter(({ scheduleId }) => scheduleId === id)
        .map(({ at }) => at)
        .sort((one, other) => one - other),
    );
    const expected = made.map(({ createdAt }, n) =>
      occurrencesByWall({ everyMs: (1 + (n % 3)) * 1_000, anchorAt: createdAt }, createdAt, endAt),
    );
    console.log(`seed ${seed}: ${fired.flat().length} occurrences fired, ${kills} kills`);
    expect(fired, `seed ${seed}`).toEqual(expected);
    expect(fired.flat().length).toBeGreaterThan(100);
    const odd = jobs.filter(({ counts, sealed }) => counts.submitted - counts.duplicate !== 1 || !sealed);
    expect(odd).toEqual([]);
  });
});

async function startScheduler(places: { store: string; broker: string }): Promise<ChildProcess> {
  const args = [program(), places.store, places.broker, String(CLAIM_MS)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}
