/** How all of it is doing, at a glance. */
import { fleet, liveJobs } from "../../live.ts";
import { may } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { FirstRun } from "./first-run.tsx";
import { JobsUnderWay } from "./jobs-under-way.tsx";
import { Queues } from "./queues.tsx";
import { Tiles } from "./tiles.tsx";
import "./overview.css";

export function Overview() {
  const jobs = liveJobs.value;
  if (jobs === undefined) {
    return (
      <Page title="Overview">
        <Loading />
      </Page>
    );
  }
  const isNew = jobs.size === 0;
  return (
    <Page
      title="Overview"
      actions={
        may("submit") && (
          <a class="button primary" href="#/jobs/new">
            New job
          </a>
        )
      }
    >
      {isNew ? <FirstRun workers={fleet.value?.workers} /> : <Tiles jobs={[...jobs.values()]} />}
      {!isNew && <JobsUnderWay jobs={[...jobs.values()]} />}
      {may("admin") && <Queues />}
    </Page>
  );
}
