/** The job of a fleet as a person deals with it: by the command line, in a folder and with settings of its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CliEnd, jsonLines, lastJson, trawl } from "../../e2e/cli.ts";
import { waitUntil } from "../../services/wait-until.ts";
import type { FleetRecord, JobSummary } from "./judge-fleet.ts";

export type FleetJob = {
  /** The job as it stands when it has ended, or when it should have; with how many URLs had to be replayed. */
  end(isNear: () => boolean, mostMs: number): Promise<{ job: JobSummary; replayed: number }>;
  records(): Promise<FleetRecord[]>;
};

type Place = { cwd: string; env: Readonly<Record<string, string>> };

/** A look at the job costs a process: not often while its end is not near. */
const LOOK_EVERY_MS = 1_000;
const LOOK_AT_LEAST_MS = 20_000;
const UNKNOWN: JobSummary = { state: "unknown", counts: {}, tally: {} };

export async function submitFleetJob(spec: Readonly<Record<string, unknown>>, place: Place): Promise<FleetJob> {
  writeFileSync(join(place.cwd, "job.json"), JSON.stringify(spec));
  const { id } = lastJson<{ id: string }>(await well(["submit", "job.json", "--json"], place));
  return {
    async end(isNear, mostMs) {
      let job = UNKNOWN;
      let replayed = 0;
      const isOver = async () => {
        await waitUntil(isNear, LOOK_AT_LEAST_MS, LOOK_EVERY_MS);
        job = lastJson<JobSummary>(await well(["job", id, "--json"], place));
        if (job.state === "running") return false;
        const again = (job.counts.dead ?? 0) === 0 ? 0 : await replayCrashed(id, place);
        replayed += again;
        return again === 0;
      };
      await waitUntil(isOver, mostMs, LOOK_EVERY_MS);
      // Nothing else should be given up on; what was tells most about why.
      if ((job.counts.dead ?? 0) > 0) console.error((await well(["dead", id, "--list"], place)).stdout);
      return { job, replayed };
    },
    records: async () => jsonLines<FleetRecord>((await well(["records", id, "--format", "jsonl"], place)).stdout),
  };
}

/**
 * A URL whose worker died three times is a dead letter and not given to a fourth: where workers are killed at random,
 * some have that bad luck. They are not lost, and an operator who knows why queues them again; so do we, and count them.
 */
async function replayCrashed(id: string, place: Place): Promise<number> {
  const words = ["dead", id, "--reason", "crashed_worker", "--replay", "--per-second", "100", "--json"];
  return lastJson<{ replayed: number }>(await well(words, place)).replayed;
}

async function well(words: readonly string[], place: Place): Promise<CliEnd> {
  const end = await trawl(words, place);
  if (end.code === 0) return end;
  throw new Error(`trawl ${words.join(" ")} ended with ${end.code ?? end.signal}: ${end.stderr}`);
}
