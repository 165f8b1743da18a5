import type { QueueOut } from "../../../../src/api/wire-fleet.ts";
import { fleet } from "../../live.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Tip } from "../../ui/tip.tsx";

const COLUMNS: readonly Column<QueueOut>[] = [
  { id: "queue", title: "Queue", rem: 8, cell: ({ queue }) => queue, sortBy: ({ queue }) => queue },
  {
    id: "waiting",
    title: "Waiting",
    tip: "Tasks on the queue, due or not yet.",
    isNumber: true,
    rem: 5,
    cell: ({ waiting }) => count(waiting),
    sortBy: ({ waiting }) => waiting,
  },
  {
    id: "workers",
    title: "Workers",
    tip: "Workers that serve it.",
    isNumber: true,
    rem: 6,
    cell: (row) => (row.workers === 0 && row.waiting > 0 ? <Nobody queue={row.queue} /> : count(row.workers)),
    sortBy: ({ workers }) => workers,
  },
  {
    id: "free",
    title: "Free",
    tip: "Tasks that these could take on now, as last heard.",
    isNumber: true,
    rem: 4,
    from: "tablet",
    cell: ({ free }) => count(free),
    sortBy: ({ free }) => free,
  },
];

export function Queues() {
  const queues = fleet.value?.queues ?? [];
  return (
    <Card title="Queues">
      <Table
        label="Queues"
        class="is-short"
        columns={COLUMNS}
        rows={queues}
        keyOf={({ queue }) => queue}
        sort={{ by: "waiting", isDown: true }}
        empty={<Empty title="Nothing waits, and nobody serves a queue." />}
      />
    </Card>
  );
}

function Nobody({ queue }: { queue: string }) {
  const says = `No worker serves it, so nothing on it is done. Start one: trawl worker --queues ${queue}`;
  return (
    <Tip says={says}>
      <Badge tone="bad">nobody</Badge>
    </Tip>
  );
}
