import type { JobOut } from "../../../../src/client/client.ts";
import { type FleetState, fleet, lostAt } from "../../live.ts";
import { may } from "../../session.ts";
import { decimal, duration, percent, plural, short } from "../../ui/format.ts";
import { Stat } from "../../ui/stat.tsx";
import { now } from "../../visible.ts";
import { pagesPerSecond } from "../jobs/job-pace.ts";

/** Operators see the numbers of the fleet, tenants the sums of their own jobs. */
export function OverviewStats({ jobs }: { jobs: readonly JobOut[] }) {
  const running = jobs.filter(({ state }) => state === "running");
  if (may("admin")) return <FleetStats fleet={fleet.value} running={running.length} />;
  return <OwnStats running={running} />;
}

const SUCCESS_LOW = 0.9;
const RECENTLY_MS = 300_000;

function FleetStats({ fleet, running }: { fleet: FleetState | undefined; running: number }) {
  const { pace, workers, queues } = fleet ?? {};
  const unserved = queues?.filter((queue) => queue.workers === 0 && queue.waiting > 0) ?? [];
  const lost = lostAt.value.filter((at) => now.value - at < RECENTLY_MS).length;
  const isLow = pace !== undefined && pace.success !== null && pace.success < SUCCESS_LOW;
  return (
    <div class="stats six-stats">
      <Stat
        label="Pages/s"
        value={decimal(pace?.pagesPerSecond)}
        tip="Pages that all workers processed per second, averaged over the last 5 to 10 seconds."
        more={`${plural(running, "job")} running`}
      />
      <Stat
        label="Success rate"
        value={percent(pace?.success)}
        tip="The share of attempts that succeeded in the last 5 to 10 seconds. The others are retried later or become dead letters."
        more={pace?.success === null ? "no recent attempts" : "of recent attempts"}
        tone={isLow ? "warn" : undefined}
      />
      <Stat
        label="Latency"
        value={duration(pace?.p50Ms)}
        tip="Median time of the recent attempts, from lease to result. 95 % of them took no longer than p95."
        more={`p95 ${duration(pace?.p95Ms)}`}
      />
      <Stat
        label="Waiting"
        value={short(pace?.waiting)}
        tip="URLs on all queues: due now, held back by the rate of their site, or waiting for a retry. Use Explain to see why a URL waits."
        more={queuesText(queues)}
      />
      <Stat
        label="In flight"
        value={short(pace?.inFlight)}
        tip="Tasks that workers are processing, as of their last heartbeat. “Free” is how many more tasks they could start."
        more={`${short(queues?.reduce((max, { free }) => Math.max(max, free), 0))} free`}
      />
      <Stat
        label="Workers"
        value={short(workers)}
        tip="Worker processes that sent a heartbeat in the last seconds. If there are none, start some with: trawl up"
        more={workersText(unserved.length, lost)}
        tone={workers === 0 ? "bad" : unserved.length + lost > 0 ? "warn" : undefined}
      />
    </div>
  );
}

function workersText(unserved: number, lost: number): string {
  if (unserved > 0) return `${plural(unserved, "queue")} unserved`;
  return lost === 0 ? "all queues served" : `${plural(lost, "worker")} lost recently`;
}

function queuesText(queues: FleetState["queues"] | undefined): string {
  const many = queues?.filter(({ waiting }) => waiting > 0).length ?? 0;
  return many === 0 ? "all queues empty" : `on ${plural(many, "queue")}`;
}

function OwnStats({ running }: { running: readonly JobOut[] }) {
  const sum = (of: (job: JobOut) => number) => running.reduce((all, job) => all + of(job), 0);
  return (
    <div class="stats">
      <Stat label="Jobs running" value={short(running.length)} tip="Your jobs that are running." />
      <Stat
        label="Waiting"
        value={short(sum(({ counts }) => counts.queued + counts.delayed))}
        tip="URLs of your running jobs that are queued or wait for a retry."
      />
      <Stat
        label="In flight"
        value={short(sum(({ counts }) => counts.leased))}
        tip="URLs of your running jobs that a worker is processing."
      />
      <Stat
        label="Pages/s"
        value={decimal(sum((job) => pagesPerSecond(job) ?? 0))}
        tip="The recent rate of all your running jobs together."
      />
      <Stat
        label="Records"
        value={short(sum(({ tally }) => tally.records))}
        tip="Records that your running jobs have extracted so far."
      />
    </div>
  );
}
