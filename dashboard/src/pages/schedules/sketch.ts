/** A schedule as it is being written: text in every field, until it is sent. */
import type { ScheduleOut } from "../../../../src/api/wire-schedules.ts";
import type { NewSchedule } from "../../../../src/client/client.ts";
import { cut } from "../../ui/format.ts";

export type Sketch = {
  name: string;
  kind: "cron" | "every";
  cron: string;
  timeZone: string;
  every: string;
  overlap: ScheduleOut["overlap"];
  catchUp: ScheduleOut["catchUp"];
  catchUpMost: string;
  /** As JSON. */
  job: string;
};

const FIRST_JOB = { urls: ["https://books.toscrape.com/"], extract: { title: "h1" } };

export function newSketch(): Sketch {
  return {
    ...{ name: "", kind: "cron", cron: "0 6 * * 1-5", every: "6h" },
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...{ overlap: "skip", catchUp: "one", catchUpMost: "10" },
    job: JSON.stringify(FIRST_JOB, undefined, 2),
  };
}

export function sketchOf(schedule: ScheduleOut): Sketch {
  const { name, cron, timeZone, every, overlap, catchUp, catchUpMost, job } = schedule;
  const usual = newSketch();
  return {
    ...{ name, overlap, catchUp, catchUpMost: String(catchUpMost) },
    kind: every === null ? "cron" : "every",
    cron: cron ?? usual.cron,
    timeZone: timeZone ?? usual.timeZone,
    every: every ?? usual.every,
    job: JSON.stringify(job, undefined, 2),
  };
}

export function whenOf({ kind, cron, timeZone, every }: Sketch): Pick<NewSchedule, "cron" | "timeZone" | "every"> {
  if (kind === "every") return { every: every.trim() };
  return { cron: cron.trim(), ...(timeZone.trim() === "" ? {} : { timeZone: timeZone.trim() }) };
}

/** Throws where the job is not JSON. */
export function scheduleOf(sketch: Sketch): NewSchedule {
  const { name, overlap, catchUp, catchUpMost } = sketch;
  return {
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...whenOf(sketch),
    ...{ overlap, catchUp },
    ...(catchUp === "all" ? { catchUpMost: Number(catchUpMost) } : {}),
    job: JSON.parse(sketch.job) as NewSchedule["job"],
  };
}

/** What is wrong with the job as it stands; undefined: it is JSON, and the server has the say. */
export function jobProblem(text: string): string | undefined {
  try {
    const job: unknown = JSON.parse(text);
    return typeof job === "object" && job !== null && !Array.isArray(job) ? undefined : "The job is an object: { … }.";
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}

/** What is wrong with a time zone as it stands; without one the cron goes by UTC. */
export function zoneProblem(text: string): string | undefined {
  const zone = text.trim();
  if (zone === "") return undefined;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return undefined;
  } catch {
    return `There is no time zone ${JSON.stringify(cut(zone, 60))}. Take one such as UTC or Europe/Berlin.`;
  }
}
