/** The fleet at a glance as one JSON object: what `--once --json` prints. */
import { workersJson } from "../workers/show-workers.ts";
import type { FleetLook } from "./fleet-look.ts";

export function topJson({ at, totals, jobs, queues, sites, workers }: FleetLook): object {
  return { at: new Date(at).toISOString(), totals, jobs: jobs.map(jobJson), queues, sites, ...workersJson(workers) };
}

/** Speeds are of looks, of which there was one: what the job itself says stays. */
function jobJson({ perSecond: _perSecond, etaMs: _etaMs, ...job }: FleetLook["jobs"][number]): object {
  return job;
}
