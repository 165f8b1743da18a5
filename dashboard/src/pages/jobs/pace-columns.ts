/** The columns for pace and remaining time of a job. */
import type { JobOut } from "../../../../src/client/client.ts";
import { decimal, duration } from "../../ui/format.ts";
import type { ScreenSize } from "../../ui/screen-size.ts";
import type { Column } from "../../ui/table.tsx";
import { msLeft, pagesPerSecond } from "./job-pace.ts";

export function paceColumns(minScreen: ScreenSize): Column<JobOut>[] {
  const shared = { isNumber: true, grow: 0, from: minScreen };
  return [
    {
      ...shared,
      id: "rate",
      title: "Pages/s",
      tip: "For a running job: the recent rate. For other jobs: the average since the start, including pauses.",
      rem: 4.5,
      cell: (job) => decimal(pagesPerSecond(job)),
    },
    {
      ...shared,
      id: "eta",
      title: "Time left",
      tip: "Estimated time until all known URLs are finished. A dash means unknown.",
      rem: 6,
      cell: (job) => duration(msLeft(job)),
    },
  ];
}
