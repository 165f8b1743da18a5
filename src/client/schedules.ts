/** The schedules of a server. */

import type { ScheduleInput } from "../schedule/schedule-schema.ts";
import { listAll, queryOf, type Signal } from "./listing.ts";
import type { Requests } from "./requests.ts";
import type { RunOut, ScheduleOut, UpcomingOut } from "./wire-types.ts";

/** The job, and either `cron` with `timeZone`, or `every`. */
export type NewSchedule = { [Key in keyof ScheduleInput]?: ScheduleInput[Key] | undefined } & Pick<
  ScheduleInput,
  "job"
>;

export type Schedules = {
  list(options?: Signal): AsyncGenerator<ScheduleOut, void>;
  get(id: string, options?: Signal): Promise<ScheduleOut>;
  add(schedule: NewSchedule, options?: Signal): Promise<ScheduleOut>;
  /** Missing keys are not changed. */
  change(id: string, change: Partial<NewSchedule>, options?: Signal): Promise<ScheduleOut>;
  pause(id: string, options?: Signal): Promise<ScheduleOut>;
  resume(id: string, options?: Signal): Promise<ScheduleOut>;
  /** Submits the job of the schedule now, as an additional run. */
  run(id: string, options?: Signal): Promise<RunOut>;
  /** The next runs, as if the schedule were not paused. */
  next(id: string, n?: number, options?: Signal): Promise<string[]>;
  /** The first runs of a new schedule. Throws ApiError BAD_SCHEDULE. */
  preview(when: Pick<NewSchedule, "cron" | "timeZone" | "every">, n?: number, options?: Signal): Promise<string[]>;
  /** The runs of all schedules in the next `days` days, at most `each` per schedule. A paused schedule has none. */
  upcoming(options?: Signal & { days?: number; each?: number }): AsyncGenerator<UpcomingOut, void>;
  /** The past runs, newest first. */
  runs(id: string, options?: Signal & { page?: number }): AsyncGenerator<RunOut, void>;
  remove(id: string, options?: Signal): Promise<void>;
};

/** Schedules per page of upcoming runs. */
const SCHEDULES = 100;

export function createSchedules(requests: Requests): Schedules {
  const at = (id: string, rest = "") => `/v1/schedules/${encodeURIComponent(id)}${rest}`;
  return {
    list: (options) => listAll(requests, "/v1/schedules", "schedules", options),
    get: (id, { signal } = {}) => requests.json(at(id), { signal }),
    add: (body, { signal } = {}) => requests.json("/v1/schedules", { method: "POST", body, signal, isOnce: true }),
    change: (id, body, { signal } = {}) => requests.json(at(id), { method: "PATCH", body, signal }),
    pause: (id, { signal } = {}) => requests.json(at(id, "/pause"), { method: "POST", signal }),
    resume: (id, { signal } = {}) => requests.json(at(id, "/resume"), { method: "POST", signal }),
    run: (id, { signal } = {}) => requests.json(at(id, "/run"), { method: "POST", signal, isOnce: true }),
    next: async (id, n, { signal } = {}) =>
      (await requests.json<{ next: string[] }>(at(id, `/next${queryOf({ n })}`), { signal })).next,
    preview: async (when, n, { signal } = {}) =>
      (await requests.json<{ next: string[] }>(`/v1/schedules/preview${queryOf({ ...when, n })}`, { signal })).next,
    upcoming: ({ days, each, ...options } = {}) =>
      listAll(requests, `/v1/schedules/upcoming${queryOf({ days, each })}`, "upcoming", {
        page: SCHEDULES,
        ...options,
      }),
    runs: (id, options) => listAll(requests, at(id, "/runs"), "runs", options),
    remove: async (id, { signal } = {}) =>
      void (await requests.json(at(id), { method: "DELETE", signal, isOnce: true })),
  };
}
