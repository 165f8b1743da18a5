import type { JobOut } from "../../../../src/client/client.ts";
import { fleet } from "../../live.ts";
import { decimal, short } from "../../ui/format.ts";
import { Stat } from "../../ui/stat.tsx";

export function Tiles({ jobs }: { jobs: readonly JobOut[] }) {
  const running = jobs.filter(({ state }) => state === "running");
  const sum = (of: (job: JobOut) => number) => running.reduce((all, job) => all + of(job), 0);
  const inFlight = sum(({ counts }) => counts.leased);
  const waiting = sum(({ counts }) => counts.queued + counts.delayed);
  const workers = fleet.value?.workers;
  return (
    <div class="stats">
      <Stat label="Jobs running" value={short(running.length)} tip="Jobs that are neither paused nor ended." />
      <Stat label="Waiting" value={short(waiting)} tip="URLs of running jobs that are queued, or wait for a retry." />
      <Stat label="In flight" value={short(inFlight)} tip="URLs that a worker has now." />
      <Stat
        label="Pages a second"
        value={decimal(sum(({ rate }) => rate ?? 0))}
        tip="Of all running jobs, each since it began."
      />
      {workers !== undefined && (
        <Stat
          label="Workers"
          value={short(workers)}
          tip="Processes that were heard of lately on this broker."
          tone={workers === 0 ? "bad" : undefined}
        />
      )}
    </div>
  );
}
