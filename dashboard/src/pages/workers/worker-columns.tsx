/** The columns of the worker table. The row of a supervisor shows the sums of its processes. */
import type { WorkerOut } from "../../../../src/client/wire-types.ts";
import { bytes, count, duration, percent, plural, UNKNOWN } from "../../ui/format.ts";
import { Scraped } from "../../ui/scraped.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";
import { type FleetRow, shortName, silentMsOf, type WorkersSnapshot } from "./fleet-rows.ts";
import { CommandButtons, type WorkerCommand } from "./worker-commands.tsx";
import { GoneStatusBadge, WorkerStatusBadge } from "./worker-status.tsx";

export function columnsOf(
  snapshot: WorkersSnapshot,
  onCommand: (command: WorkerCommand, row: FleetRow) => void,
): Column<FleetRow>[] {
  return [
    { id: "worker", title: "Worker", rem: 7, grow: 2, cell: (row) => <Name row={row} /> },
    {
      id: "state",
      title: "State",
      tip: "Whether the worker takes tasks. A draining worker finishes its tasks and takes no new ones.",
      rem: 8.5,
      grow: 0,
      cell: (row) => <State row={row} snapshot={snapshot} />,
    },
    {
      id: "busy",
      title: "Busy",
      tip: "Tasks in progress, out of the maximum.",
      rem: 5,
      cell: (row) => <Busy members={membersOf(row)} />,
    },
    {
      id: "memory",
      title: "Memory",
      tip: "Memory of the process and its limit, if set. A process over the limit is replaced.",
      rem: 9.5,
      from: "tablet",
      cell: (row) => <Memory members={membersOf(row)} />,
    },
    ...numbers(),
    {
      id: "seen",
      title: "Last seen",
      tip: "The last heartbeat. Workers send one every 5 seconds. After 15 seconds without one, a worker counts as lost.",
      isNumber: true,
      rem: 5,
      grow: 0,
      from: "wide",
      cell: (row) => (row.kind === "group" ? "" : <Ago at={workerOf(row).seenAt} />),
    },
    {
      id: "queues",
      title: "Queues",
      tip: "The queues that the worker serves.",
      rem: 6,
      grow: 2,
      from: "desktop",
      cell: (row) => <Scraped text={queuesOf(row)} />,
    },
    {
      id: "commands",
      title: "",
      rem: 9.5,
      grow: 0,
      from: "tablet",
      cell: (row) => <CommandButtons row={row} isSmall onCommand={(command) => onCommand(command, row)} />,
    },
  ];
}

function numbers(): Column<FleetRow>[] {
  return [
    {
      id: "done",
      title: "Done",
      tip: "Successful attempts since the process started.",
      isNumber: true,
      rem: 4.5,
      grow: 0,
      from: "laptop",
      cell: (row) => count(sumOf(row, ({ done }) => done)),
    },
    {
      id: "failed",
      title: "Failed",
      tip: "Failed attempts since the process started. They are retried or become dead letters.",
      isNumber: true,
      rem: 4,
      grow: 0,
      from: "laptop",
      cell: (row) => count(sumOf(row, ({ failed }) => failed)),
    },
    {
      id: "thread",
      title: "Thread",
      tip: "How busy the main thread of the process was in the last seconds. If it is near 100 %, start more processes.",
      isNumber: true,
      rem: 4.5,
      grow: 0,
      from: "wide",
      cell: (row) => (row.kind === "worker" ? percent(row.worker.eventLoopUse) : ""),
    },
    {
      id: "up",
      title: "Uptime",
      tip: "Time since the process started.",
      isNumber: true,
      rem: 6.5,
      grow: 0,
      from: "wide",
      cell: (row) => (row.kind === "worker" ? uptimeOf(row.worker) : ""),
    },
  ];
}

function Name({ row }: { row: FleetRow }) {
  if (row.kind === "group") {
    return (
      <Tip
        text={`Supervisor of ${plural(row.members.length, "process", "processes")}. It starts and replaces them.`}
        isUnfocusable
      >
        <b>{shortName(row.supervisor)}</b> <span class="muted">×{row.members.length}</span>
      </Tip>
    );
  }
  const { worker, pid } = workerOf(row);
  const isMember = row.kind === "worker" && row.isMember;
  return <span class={isMember ? "worker-member" : ""}>{isMember && pid !== null ? pid : shortName(worker)}</span>;
}

function State({ row, snapshot }: { row: FleetRow; snapshot: WorkersSnapshot }) {
  if (row.kind === "gone") return <GoneStatusBadge gone={row.gone} now={now.value} />;
  if (row.kind === "group") return null;
  // Computed for the time of the last response, not for now: workers must not appear as silent while the server is
  // unreachable.
  const silentMs = silentMsOf(snapshot, row.worker, snapshot.at);
  return <WorkerStatusBadge worker={row.worker} silentMs={silentMs} pace={snapshot.paces.get(row.worker.worker)} />;
}

type GaugeProps = {
  /** Undefined if there is no limit; then there is no bar. */
  share: number | undefined;
  text: string;
  tip: string;
  label: string;
  /** Highlights a bar that is nearly full. */
  isLimit?: boolean;
};

/** A value and its share of the limit as a bar. */
function Gauge({ share, text, tip, label, isLimit = false }: GaugeProps) {
  const part = Math.max(0, Math.min(1, share ?? 0));
  return (
    <Tip text={tip} isUnfocusable class="gauge">
      <span class="gauge-text">{text}</span>
      {share !== undefined && (
        <span class="gauge-track" role="img" aria-label={`${label}: ${Math.round(part * 100)} %`}>
          <span
            class={isLimit && part > 0.9 ? "gauge-bar is-full" : "gauge-bar"}
            style={{ transform: `scaleX(${part})` }}
          />
        </span>
      )}
    </Tip>
  );
}

export function Busy({ members }: { members: readonly WorkerOut[] }) {
  if (members.length === 0) return null;
  const [busy, max] = [sum(members, (one) => one.busy), sum(members, (one) => one.concurrency)];
  if (max === undefined || busy === undefined) return <span>{UNKNOWN}</span>;
  return (
    <Gauge
      label="Busy"
      share={max === 0 ? 0 : busy / max}
      text={`${count(busy)} / ${count(max)}`}
      tip={`${plural(busy, "task")} in progress, at most ${count(max)}.`}
    />
  );
}

export function Memory({ members }: { members: readonly WorkerOut[] }) {
  if (members.length === 0) return null;
  const [rss, max] = [sum(members, (one) => one.rssBytes), sum(members, (one) => one.maxMemoryBytes)];
  if (rss === undefined) return <span>{UNKNOWN}</span>;
  return (
    <Gauge
      label="Memory"
      isLimit
      share={max === undefined ? undefined : rss / max}
      text={max === undefined ? bytes(rss) : outOf(rss, max)}
      tip={
        max === undefined
          ? `${bytes(rss)} in use, no limit. Set a limit with --max-memory-per-child.`
          : `${bytes(rss)} in use, limit ${bytes(max)}. A process over the limit is replaced.`
      }
    />
  );
}

/** `103 / 512 MB`: shows the unit once if both values have the same unit. */
function outOf(rss: number, max: number): string {
  const [one, all] = [bytes(rss), bytes(max)];
  const unit = all.slice(all.indexOf(" "));
  return `${one.endsWith(unit) ? one.slice(0, -unit.length) : one} / ${all}`;
}

export function uptimeOf({ startedAt }: WorkerOut): string {
  return startedAt === null ? UNKNOWN : duration(Math.max(0, now.value - Date.parse(startedAt)));
}

/** The workers of a row; empty for a worker that is gone. */
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

/** The sum of a value over all members; undefined if one of the values is unknown. */
function sum(members: readonly WorkerOut[], of: (worker: WorkerOut) => number | null): number | undefined {
  const values = members.map(of);
  return values.includes(null) ? undefined : values.reduce((all: number, value) => all + (value ?? 0), 0);
}
