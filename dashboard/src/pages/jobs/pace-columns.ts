/** How fast a job goes and how long it will take, wherever jobs are listed. */
import type { JobOut } from "../../../../src/client/client.ts";
import { decimal, duration } from "../../ui/format.ts";
import type { Room } from "../../ui/screen.ts";
import type { Column } from "../../ui/table.tsx";

export function paceColumns(from: Room): Column<JobOut>[] {
  const narrow = { isNumber: true, grow: 0, from };
  return [
    {
      ...narrow,
      id: "rate",
      title: "Pages/s",
      tip: "Since the job began, pauses included.",
      rem: 4.5,
      cell: ({ rate }) => decimal(rate),
    },
    {
      ...narrow,
      id: "eta",
      title: "To go",
      tip: "Until what the job has now is done, at the pace so far.",
      rem: 6,
      cell: ({ etaSeconds }) => duration(etaSeconds === null ? null : etaSeconds * 1000),
    },
  ];
}
