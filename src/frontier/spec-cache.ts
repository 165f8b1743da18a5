/**
 * Parses the specifications of jobs, and reuses the result while the text is the same. A specification has up to 500
 * URLs and never changes, but every list of jobs reads it. Measured: without the cache, parsing takes 0.37 of the 2 ms
 * of a request for 50 jobs.
 *
 * Callers share the result, so it is frozen. The cache has two generations, as in seen-cache.ts.
 */
import type { JobSpec } from "../domain/job-spec.ts";

/** When the texts of a generation reach this total length, a new generation starts. */
const MAX_GENERATION_CHARS = 4_000_000;

type Parsed = { text: string; spec: JobSpec };

/** Returns a function that parses the specification of a job. */
export function createSpecParser(): (jobId: string, text: string) => JobSpec {
  let young = new Map<string, Parsed>();
  let old = new Map<string, Parsed>();
  let chars = 0;

  function keep(jobId: string, parsed: Parsed): void {
    if (chars >= MAX_GENERATION_CHARS) {
      old = young;
      young = new Map();
      chars = 0;
    }
    young.set(jobId, parsed);
    chars += parsed.text.length;
  }

  return (jobId, text) => {
    const recent = young.get(jobId);
    if (recent?.text === text) return recent.spec;
    const older = old.get(jobId);
    const parsed = older?.text === text ? older : { text, spec: deepFreeze(JSON.parse(text) as JobSpec) };
    keep(jobId, parsed);
    return parsed.spec;
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
