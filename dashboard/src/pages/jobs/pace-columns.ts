/** How fast a job goes and how long it will take, wherever jobs are listed. */
import type { JobOut } from "../../../../src/client/client.ts";
import { decimal, duration } from "../../ui/format.ts";
import type { Room } from "../../ui/screen.ts";
import type { Column } from "../../ui/table.tsx";
import { msToGo, pagesPerSecond } from "./job-pace.ts";

export function paceColumns(from: Room): Column<JobOut>[] {
  const narrow = { isNumber: true, grow: 0, from };
  return [
    {
      ...narrow,
      id: "rate",
      title: "Pages/s",
      tip: "Lately, of a job that runs; of others since they began, pauses included.",
      rem: 4.5,
      cell: (job) => decimal(pagesPerSecond(job)),
    },
    {
      ...narrow,
      id: "eta",
      title: "To go",
      tip: "Until what the job has now is done, at its pace. A dash: it cannot be told.",
      rem: 6,
      cell: (job) => duration(msToGo(job)),
    },
  ];
}
