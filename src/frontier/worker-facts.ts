import type { WorkerView } from "./frontier-admin.ts";

/** How a worker is doing, as JSON has it: to the API and to whoever reads `--json` alike. */
export function workerFacts({ vitals, seenAt }: WorkerView) {
  return {
    concurrency: vitals?.concurrency ?? null,
    busy: vitals?.busy ?? null,
    done: vitals?.done ?? null,
    failed: vitals?.failed ?? null,
    rssBytes: vitals?.rssBytes ?? null,
    supervisor: vitals?.supervisor ?? null,
    startedAt: vitals === undefined ? null : new Date(seenAt - vitals.upMs).toISOString(),
    seenAt: new Date(seenAt).toISOString(),
  };
}
