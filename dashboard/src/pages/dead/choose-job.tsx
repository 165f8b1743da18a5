/** Tenants can list dead letters only per job: this shows the jobs that have some. */
import { liveJobs } from "../../live.ts";
import { hrefOf } from "../../router.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

export function ChooseJob() {
  const known = liveJobs.value;
  if (known === undefined) return <Loading />;
  const jobs = [...known.values()].filter(({ counts }) => counts.dead > 0);
  if (jobs.length === 0) {
    return (
      <Empty title="No dead letters.">
        <p>URLs of your jobs that fail permanently are listed here, with the reason and all attempts.</p>
      </Empty>
    );
  }
  return (
    <Card title="Your jobs with dead letters">
      <Table
        label="Jobs with dead letters"
        rows={jobs}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf(["dead"], { job: id })}
        columns={[
          { id: "name", title: "Job", rem: 10, grow: 3, cell: ({ name }) => <Scraped text={name} /> },
          {
            ...{ id: "dead", title: "Failed", isNumber: true, rem: 6, grow: 0 },
            tip: "URLs of the job that failed permanently, including discarded ones.",
            cell: ({ counts }) => count(counts.dead),
          },
          { id: "at", title: "Submitted", rem: 7, grow: 0, cell: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
      />
    </Card>
  );
}
