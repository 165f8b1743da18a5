/** The contents of the schedule form: every field is text until it is sent. */

import type { NewSchedule } from "../../../../src/client/client.ts";
import type { ScheduleOut } from "../../../../src/client/wire-types.ts";
import { cut } from "../../ui/format.ts";

export type ScheduleDraft = {
  name: string;
  kind: "cron" | "every";
  cron: string;
  timeZone: string;
  every: string;
  overlap: ScheduleOut["overlap"];
  catchUp: ScheduleOut["catchUp"];
  maxCatchUp: string;
  /** As JSON. */
  job: string;
};

const EXAMPLE_JOB = { urls: ["https://books.toscrape.com/"], extract: { title: "h1" } };

export function newScheduleDraft(): ScheduleDraft {
  return {
    ...{ name: "", kind: "cron", cron: "0 6 * * 1-5", every: "6h" },
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...{ overlap: "skip", catchUp: "one", maxCatchUp: "10" },
    job: JSON.stringify(EXAMPLE_JOB, undefined, 2),
  };
}

export function scheduleDraftOf(schedule: ScheduleOut): ScheduleDraft {
  const { name, cron, timeZone, every, overlap, catchUp, maxCatchUp, job } = schedule;
  const defaults = newScheduleDraft();
  return {
    ...{ name, overlap, catchUp, maxCatchUp: String(maxCatchUp) },
    kind: every === null ? "cron" : "every",
    cron: cron ?? defaults.cron,
    timeZone: timeZone ?? defaults.timeZone,
    every: every ?? defaults.every,
    job: JSON.stringify(job, undefined, 2),
  };
}

export function whenOf({
  kind,
  cron,
  timeZone,
  every,
}: ScheduleDraft): Pick<NewSchedule, "cron" | "timeZone" | "every"> {
  if (kind === "every") return { every: every.trim() };
  return { cron: cron.trim(), ...(timeZone.trim() === "" ? {} : { timeZone: timeZone.trim() }) };
}

/** Throws if the job is not JSON. */
export function scheduleOf(draft: ScheduleDraft): NewSchedule {
  const { name, overlap, catchUp, maxCatchUp } = draft;
  return {
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...whenOf(draft),
    ...{ overlap, catchUp },
    ...(catchUp === "all" ? { maxCatchUp: Number(maxCatchUp) } : {}),
    job: JSON.parse(draft.job) as NewSchedule["job"],
  };
}

/** The error if the job is not a JSON object; undefined otherwise. The server validates the rest. */
export function jobProblem(text: string): string | undefined {
  try {
    const job: unknown = JSON.parse(text);
    return typeof job === "object" && job !== null && !Array.isArray(job)
      ? undefined
      : "The job must be a JSON object: { … }.";
  } catch (error) {
    return `Invalid JSON: ${(error as Error).message}`;
  }
}

/** The error if the browser does not know the time zone. Empty is valid and means UTC. */
export function zoneProblem(text: string): string | undefined {
  const zone = text.trim();
  if (zone === "") return undefined;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return undefined;
  } catch {
    return `Unknown time zone ${JSON.stringify(cut(zone, 60))}. Use a name such as UTC or Europe/Berlin.`;
  }
}
