/** The state of the whole system. */
import { fleet, liveJobs } from "../../live.ts";
import { may } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { ActiveJobs } from "./active-jobs.tsx";
import { BusySites } from "./busy-sites.tsx";
import { DeadGroups } from "./dead-groups.tsx";
import { FirstRun } from "./first-run.tsx";
import { History } from "./history.tsx";
import { OverviewStats } from "./overview-stats.tsx";
import { Queues } from "./queues.tsx";
import "./overview.css";

export function Overview() {
  const known = liveJobs.value;
  const jobs = known === undefined ? undefined : [...known.values()];
  const newJob = may("submit") && (
    <a class="button primary" href="#/jobs/new">
      New job
    </a>
  );
  return (
    <Page title="Overview" actions={newJob}>
      {jobs === undefined && <Loading />}
      {jobs?.length === 0 && <FirstRun workers={fleet.value?.workers} />}
      {jobs !== undefined && jobs.length > 0 && <OverviewStats jobs={jobs} />}
      {jobs !== undefined && jobs.length > 0 && <ActiveJobs jobs={jobs} />}
      {may("admin") && <FleetParts />}
    </Page>
  );
}

/** Parts that are the same for all tenants. */
function FleetParts() {
  return (
    <>
      <History />
      <div class="cards">
        <div class="stack">
          <BusySites />
          <Queues />
        </div>
        <DeadGroups />
      </div>
    </>
  );
}
