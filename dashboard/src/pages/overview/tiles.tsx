import type { JobOut } from "../../../../src/client/client.ts";
import { type Fleet, fleet, lostAt } from "../../live.ts";
import { may } from "../../session.ts";
import { decimal, duration, percent, plural, short } from "../../ui/format.ts";
import { Stat } from "../../ui/stat.tsx";
import { now } from "../../visible.ts";
import { pagesPerSecond } from "../jobs/job-pace.ts";

/** An operator sees the fleet; a tenant what its own jobs say. */
export function Tiles({ jobs }: { jobs: readonly JobOut[] }) {
  const running = jobs.filter(({ state }) => state === "running");
  if (may("admin")) return <FleetTiles fleet={fleet.value} running={running.length} />;
  return <OwnTiles running={running} />;
}

const SUCCESS_POOR = 0.9;
const LATELY_MS = 300_000;

function FleetTiles({ fleet, running }: { fleet: Fleet | undefined; running: number }) {
  const { pace, workers, queues } = fleet ?? {};
  const unserved = queues?.filter((queue) => queue.workers === 0 && queue.waiting > 0) ?? [];
  const lost = lostAt.value.filter((at) => now.value - at < LATELY_MS).length;
  const isPoor = pace !== undefined && pace.success !== null && pace.success < SUCCESS_POOR;
  return (
    <div class="stats six-stats">
      <Stat
        label="Pages a second"
        value={decimal(pace?.pagesPerSecond)}
        tip="Pages that all workers together have read, on average over the last 5 to 10 seconds."
        more={`${plural(running, "job")} running`}
      />
      <Stat
        label="Success"
        value={percent(pace?.success)}
        tip="Of the tries of the last 5 to 10 seconds, the share that ended as they should. The others are tried again later, or become dead letters."
        more={pace?.success === null ? "nothing tried just now" : "of the last tries"}
        tone={isPoor ? "warn" : undefined}
      />
      <Stat
        label="Latency"
        value={duration(pace?.p50Ms)}
        tip="Half of the tries of the last seconds took no longer than this, from lease to result; p95: of 100 tries, 95 took no longer."
        more={`p95 ${duration(pace?.p95Ms)}`}
      />
      <Stat
        label="Waiting"
        value={short(pace?.waiting)}
        tip="URLs on all queues: due now, held back by their site's rate, or waiting for a retry. Explain says why one of them waits."
        more={onQueues(queues)}
      />
      <Stat
        label="In flight"
        value={short(pace?.inFlight)}
        tip="Tasks that workers have under way, as last heard of them."
        more={`room for ${short(queues?.reduce((most, { free }) => Math.max(most, free), 0))} more`}
      />
      <Stat
        label="Workers"
        value={short(workers)}
        tip="Processes that were heard of in the last seconds. Without one, nothing is fetched: start some with trawl up."
        more={workerWords(unserved.length, lost)}
        tone={workers === 0 ? "bad" : unserved.length + lost > 0 ? "warn" : undefined}
      />
    </div>
  );
}

function workerWords(unserved: number, lost: number): string {
  if (unserved > 0) return `${plural(unserved, "queue")} unserved`;
  return lost === 0 ? "all queues served" : `${plural(lost, "worker")} lost lately`;
}

function onQueues(queues: Fleet["queues"] | undefined): string {
  const many = queues?.filter(({ waiting }) => waiting > 0).length ?? 0;
  return many === 0 ? "on no queue" : `on ${plural(many, "queue")}`;
}

function OwnTiles({ running }: { running: readonly JobOut[] }) {
  const sum = (of: (job: JobOut) => number) => running.reduce((all, job) => all + of(job), 0);
  return (
    <div class="stats">
      <Stat label="Jobs running" value={short(running.length)} tip="Your jobs that are neither paused nor ended." />
      <Stat
        label="Waiting"
        value={short(sum(({ counts }) => counts.queued + counts.delayed))}
        tip="URLs of your running jobs that are queued, or wait for a retry."
      />
      <Stat
        label="In flight"
        value={short(sum(({ counts }) => counts.leased))}
        tip="URLs of your running jobs that a worker has now."
      />
      <Stat
        label="Pages a second"
        value={decimal(sum((job) => pagesPerSecond(job) ?? 0))}
        tip="Of your running jobs together, lately."
      />
      <Stat
        label="Records"
        value={short(sum(({ tally }) => tally.records))}
        tip="What your running jobs have extracted until now."
      />
    </div>
  );
}
