/** The job of a fleet, controlled through the command line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CliEnd, jsonLines, lastJson, trawl } from "../../e2e/cli.ts";
import { waitUntil } from "../../services/wait-until.ts";
import type { FleetRecord, JobSummary } from "./judge-fleet.ts";

export type FleetJob = {
  /** Waits until the job has ended, or for `timeoutMs`. Resolves with the job and the number of replayed URLs. */
  end(isNearEnd: () => boolean, timeoutMs: number): Promise<{ job: JobSummary; replayed: number }>;
  records(): Promise<FleetRecord[]>;
};

type CommandOptions = { cwd: string; env: Readonly<Record<string, string>> };

/** Every poll starts a process. Until the job is near its end, the job is polled only once per `RARE_POLL_MS`. */
const POLL_MS = 1_000;
const RARE_POLL_MS = 20_000;
const UNKNOWN: JobSummary = { state: "unknown", counts: {}, tally: {} };

export async function submitFleetJob(
  spec: Readonly<Record<string, unknown>>,
  options: CommandOptions,
): Promise<FleetJob> {
  writeFileSync(join(options.cwd, "job.json"), JSON.stringify(spec));
  const { id } = lastJson<{ id: string }>(await runOrThrow(["submit", "job.json", "--json"], options));
  return {
    async end(isNearEnd, timeoutMs) {
      let job = UNKNOWN;
      let replayed = 0;
      const isOver = async () => {
        await waitUntil(isNearEnd, RARE_POLL_MS, POLL_MS);
        job = lastJson<JobSummary>(await runOrThrow(["job", id, "--json"], options));
        if (job.state === "running") return false;
        const count = (job.counts.dead ?? 0) === 0 ? 0 : await replayCrashed(id, options);
        replayed += count;
        return count === 0;
      };
      await waitUntil(isOver, timeoutMs, POLL_MS);
      // No task should fail for another reason. Print the tasks that did.
      if ((job.counts.dead ?? 0) > 0) console.error((await runOrThrow(["dead", id, "--list"], options)).stdout);
      return { job, replayed };
    },
    records: async () =>
      jsonLines<FleetRecord>((await runOrThrow(["records", id, "--format", "jsonl"], options)).stdout),
  };
}

/**
 * A URL fails after three workers have died with it, which happens to some URLs if workers are killed at random. Those
 * URLs are not lost: an operator can replay them. This function does so and returns their number.
 */
async function replayCrashed(id: string, options: CommandOptions): Promise<number> {
  const args = ["dead", id, "--reason", "crashed_worker", "--replay", "--per-second", "100", "--json"];
  return lastJson<{ replayed: number }>(await runOrThrow(args, options)).replayed;
}

async function runOrThrow(args: readonly string[], options: CommandOptions): Promise<CliEnd> {
  const end = await trawl(args, options);
  if (end.code === 0) return end;
  throw new Error(`trawl ${args.join(" ")} ended with ${end.code ?? end.signal}: ${end.stderr}`);
}
