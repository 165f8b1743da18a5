import type { QueueOut } from "../../../../src/client/wire-types.ts";
import { fleet } from "../../live.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { serveQueue } from "../../ui/serve-queue.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { Tip } from "../../ui/tip.tsx";

const COLUMNS: readonly Column<QueueOut>[] = [
  { id: "queue", title: "Queue", rem: 8, cell: ({ queue }) => queue, sortBy: ({ queue }) => queue },
  {
    id: "waiting",
    title: "Waiting",
    tip: "Tasks on the queue, including those that are not due yet.",
    isNumber: true,
    rem: 5,
    cell: ({ waiting }) => count(waiting),
    sortBy: ({ waiting }) => waiting,
  },
  {
    id: "workers",
    title: "Workers",
    tip: "Workers that serve this queue.",
    isNumber: true,
    rem: 6,
    cell: (row) => (row.workers === 0 && row.waiting > 0 ? <Unserved queue={row.queue} /> : count(row.workers)),
    sortBy: ({ workers }) => workers,
  },
  {
    id: "free",
    title: "Free",
    tip: "How many more tasks these workers could start now, as of their last heartbeat.",
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
        empty={<Empty title="No tasks are waiting and no worker is connected." />}
      />
    </Card>
  );
}

function Unserved({ queue }: { queue: string }) {
  const { problem, action, command } = serveQueue(queue);
  return (
    <Tip text={`${problem}, so its tasks wait. ${action}: ${command}`}>
      <Badge tone="bad">none</Badge>
    </Tip>
  );
}
