/** The columns of the table of workers; the rows of supervisors have the sums of theirs. */
import type { WorkerOut } from "../../../../src/api/wire-fleet.ts";
import { bytes, count, duration, percent, plural, UNKNOWN } from "../../ui/format.ts";
import { Scraped } from "../../ui/scraped.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";
import { Condition, GoneCondition } from "./condition.tsx";
import { type FleetRow, shortName, silenceOf, type Watched } from "./fleet-rows.ts";
import { Gauge } from "./gauge.tsx";
import { type Order, Orders } from "./orders.tsx";

export function columnsOf(watched: Watched, ask: (order: Order, row: FleetRow) => void): Column<FleetRow>[] {
  return [
    { id: "worker", title: "Worker", rem: 7, grow: 2, cell: (row) => <Name row={row} /> },
    {
      id: "state",
      title: "State",
      tip: "Whether it takes tasks. Draining ones end those they have, and take no more.",
      rem: 8.5,
      grow: 0,
      cell: (row) => <State row={row} watched={watched} />,
    },
    {
      id: "busy",
      title: "Busy",
      tip: "Tasks under way, of how many at once.",
      rem: 5,
      cell: (row) => <Busy members={membersOf(row)} />,
    },
    {
      id: "memory",
      title: "Memory",
      tip: "What the process has in memory; of its limit, if it has one. Past it, a fresh process takes its place.",
      rem: 9.5,
      from: "tablet",
      cell: (row) => <Memory members={membersOf(row)} />,
    },
    ...numbers(),
    {
      id: "heard",
      title: "Heard",
      tip: "When it last told of itself, which it does every 5 seconds. One that is killed is forgotten after 15.",
      isNumber: true,
      rem: 5,
      grow: 0,
      from: "wide",
      cell: (row) => (row.kind === "group" ? "" : <Ago at={workerOf(row).seenAt} />),
    },
    {
      id: "queues",
      title: "Queues",
      tip: "What it serves.",
      rem: 6,
      grow: 2,
      from: "desk",
      cell: (row) => <Scraped text={queuesOf(row)} />,
    },
    {
      id: "orders",
      title: "",
      rem: 9.5,
      grow: 0,
      from: "tablet",
      cell: (row) => <Orders row={row} ask={(order) => ask(order, row)} />,
    },
  ];
}

function numbers(): Column<FleetRow>[] {
  return [
    {
      id: "done",
      title: "Done",
      tip: "Leases that ended as they should, since the process started.",
      isNumber: true,
      rem: 4.5,
      grow: 0,
      from: "laptop",
      cell: (row) => count(sumOf(row, ({ done }) => done)),
    },
    {
      id: "failed",
      title: "Failed",
      tip: "Leases that ended without a page: to be tried again, or given up on.",
      isNumber: true,
      rem: 4,
      grow: 0,
      from: "laptop",
      cell: (row) => count(sumOf(row, ({ failed }) => failed)),
    },
    {
      id: "thread",
      title: "Thread",
      tip: "How much of the last seconds its one thread was at work. Near 100 % it can do no more: start more processes.",
      isNumber: true,
      rem: 4.5,
      grow: 0,
      from: "wide",
      cell: (row) => (row.kind === "worker" ? percent(row.worker.loopUse) : ""),
    },
    {
      id: "up",
      title: "Up",
      tip: "Since when the process is there.",
      isNumber: true,
      rem: 6.5,
      grow: 0,
      from: "wide",
      cell: (row) => (row.kind === "worker" ? upOf(row.worker) : ""),
    },
  ];
}

function Name({ row }: { row: FleetRow }) {
  if (row.kind === "group") {
    return (
      <Tip
        says={`The supervisor of ${plural(row.members.length, "process", "processes")}: it starts, watches and replaces them.`}
        isQuiet
      >
        <b>{shortName(row.supervisor)}</b> <span class="quiet">×{row.members.length}</span>
      </Tip>
    );
  }
  const { worker, pid } = workerOf(row);
  const isInside = row.kind === "worker" && row.isInside;
  return <span class={isInside ? "worker-inside" : ""}>{isInside && pid !== null ? pid : shortName(worker)}</span>;
}

function State({ row, watched }: { row: FleetRow; watched: Watched }) {
  if (row.kind === "gone") return <GoneCondition gone={row.gone} now={now.value} />;
  if (row.kind === "group") return null;
  // As of the server's last answer: while that is away nobody is heard, and nobody is to blame for it.
  const silentMs = silenceOf(watched, row.worker, watched.at);
  return <Condition worker={row.worker} silentMs={silentMs} pace={watched.paces.get(row.worker.worker)} />;
}

export function Busy({ members }: { members: readonly WorkerOut[] }) {
  if (members.length === 0) return null;
  const [busy, most] = [sum(members, (one) => one.busy), sum(members, (one) => one.concurrency)];
  if (most === undefined || busy === undefined) return <span>{UNKNOWN}</span>;
  return (
    <Gauge
      label="Busy"
      share={most === 0 ? 0 : busy / most}
      words={`${count(busy)} / ${count(most)}`}
      tip={`${plural(busy, "task")} under way; room for ${count(most)} at once.`}
    />
  );
}

export function Memory({ members }: { members: readonly WorkerOut[] }) {
  if (members.length === 0) return null;
  const [rss, most] = [sum(members, (one) => one.rssBytes), sum(members, (one) => one.memoryMostBytes)];
  if (rss === undefined) return <span>{UNKNOWN}</span>;
  return (
    <Gauge
      label="Memory"
      isLimit
      share={most === undefined ? undefined : rss / most}
      words={most === undefined ? bytes(rss) : outOf(rss, most)}
      tip={
        most === undefined
          ? `${bytes(rss)} in memory. It has no limit; set one with --max-memory-per-child.`
          : `${bytes(rss)} in memory, of ${bytes(most)}. Past that, a fresh process takes its place.`
      }
    />
  );
}

/** `103 / 512 MB`: the unit once, where it is the same. */
function outOf(rss: number, most: number): string {
  const [one, all] = [bytes(rss), bytes(most)];
  const unit = all.slice(all.indexOf(" "));
  return `${one.endsWith(unit) ? one.slice(0, -unit.length) : one} / ${all}`;
}

export function upOf({ startedAt }: WorkerOut): string {
  return startedAt === null ? UNKNOWN : duration(Math.max(0, now.value - Date.parse(startedAt)));
}

/** None where nobody is there any more. */
export function membersOf(row: FleetRow): readonly WorkerOut[] {
  if (row.kind === "group") return row.members;
  return row.kind === "worker" ? [row.worker] : [];
}

function workerOf(row: Exclude<FleetRow, { kind: "group" }>): WorkerOut {
  return row.kind === "gone" ? row.gone.worker : row.worker;
}

function queuesOf(row: FleetRow): string {
  if (row.kind === "group") return "";
  return workerOf(row).queues.join(", ");
}

function sumOf(row: FleetRow, of: (worker: WorkerOut) => number | null): number | undefined {
  return row.kind === "gone" ? (of(row.gone.worker) ?? undefined) : sum(membersOf(row), of);
}

/** Undefined where one of them does not tell. */
function sum(members: readonly WorkerOut[], of: (worker: WorkerOut) => number | null): number | undefined {
  const values = members.map(of);
  return values.includes(null) ? undefined : values.reduce((all: number, value) => all + (value ?? 0), 0);
}
