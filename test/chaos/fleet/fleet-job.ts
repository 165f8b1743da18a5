/** The job of a fleet, controlled through the command line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CliEnd, jsonLines, lastJson, trawl } from "../../e2e/cli.ts";
import { waitUntil } from "../../services/wait-until.ts";
import type { FleetRecord, JobSummary } from "./judge-fleet.ts";

export type FleetJob = {
  /** The job after its end, or at the time limit, and the number of URLs that were replayed. */
  end(isNear: () => boolean, mostMs: number): Promise<{ job: JobSummary; replayed: number }>;
  records(): Promise<FleetRecord[]>;
};

type Setting = { cwd: string; env: Readonly<Record<string, string>> };

/** Every poll starts a process: polls are rare until the end is near. */
const POLL_MS = 1_000;
const POLL_AT_LEAST_MS = 20_000;
const UNKNOWN: JobSummary = { state: "unknown", counts: {}, tally: {} };

export async function submitFleetJob(spec: Readonly<Record<string, unknown>>, setting: Setting): Promise<FleetJob> {
  writeFileSync(join(setting.cwd, "job.json"), JSON.stringify(spec));
  const { id } = lastJson<{ id: string }>(await well(["submit", "job.json", "--json"], setting));
  return {
    async end(isNear, mostMs) {
      let job = UNKNOWN;
      let replayed = 0;
      const isOver = async () => {
        await waitUntil(isNear, POLL_AT_LEAST_MS, POLL_MS);
        job = lastJson<JobSummary>(await well(["job", id, "--json"], setting));
        if (job.state === "running") return false;
        const again = (job.counts.dead ?? 0) === 0 ? 0 : await replayCrashed(id, setting);
        replayed += again;
        return again === 0;
      };
      await waitUntil(isOver, mostMs, POLL_MS);
      // No other task should fail. Print those that did.
      if ((job.counts.dead ?? 0) > 0) console.error((await well(["dead", id, "--list"], setting)).stdout);
      return { job, replayed };
    },
    records: async () => jsonLines<FleetRecord>((await well(["records", id, "--format", "jsonl"], setting)).stdout),
  };
}

/**
 * A URL fails after three of its workers have died. Where workers are killed at random, that happens to some. They are not
 * lost: an operator can replay them, and so does this function, which returns their number.
 */
async function replayCrashed(id: string, setting: Setting): Promise<number> {
  const words = ["dead", id, "--reason", "crashed_worker", "--replay", "--per-second", "100", "--json"];
  return lastJson<{ replayed: number }>(await well(words, setting)).replayed;
}

async function well(words: readonly string[], setting: Setting): Promise<CliEnd> {
  const end = await trawl(words, setting);
  if (end.code === 0) return end;
  throw new Error(`trawl ${words.join(" ")} ended with ${end.code ?? end.signal}: ${end.stderr}`);
}
