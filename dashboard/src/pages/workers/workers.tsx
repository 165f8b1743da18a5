/** The workers, their status and commands. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { isApiError } from "../../../../src/client/api-error.ts";
import type { QueueOut, WorkerOut } from "../../../../src/client/wire-types.ts";
import { fleet, lostAt } from "../../live.ts";
import { usePolled } from "../../polled.ts";
import { api } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { bytes, count, decimal, percent, plural, UNKNOWN } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Stat } from "../../ui/stat.tsx";
import { Table } from "../../ui/table.tsx";
import { type FleetRow, lostWorkers, nextSnapshot, rowsOf, type WorkersSnapshot } from "./fleet-rows.ts";
import { FleetWarnings } from "./fleet-warnings.tsx";
import { columnsOf } from "./worker-columns.tsx";
import { ConfirmCommand, type WorkerCommand } from "./worker-commands.tsx";
import { WorkerDialog } from "./worker-dialog.tsx";
import "./workers.css";

type PendingCommand = { command: WorkerCommand; row: Exclude<FleetRow, { kind: "gone" }> };

const POLL_MS = 2_500;

/** Kept when the user opens another page, so that gone workers are still known. */
const currentSnapshot = signal<WorkersSnapshot | undefined>(undefined);

export function Workers() {
  const { snapshot, error, reload } = useSnapshot();
  const [pending, setPending] = useState<PendingCommand | undefined>(undefined);
  const [openKey, setOpenKey] = useState<string | undefined>(undefined);
  const queues = fleet.value?.queues ?? [];
  const onCommand = (command: WorkerCommand, row: FleetRow) => {
    if (row.kind === "gone") return;
    setOpenKey(undefined);
    setPending({ command, row });
  };
  if (snapshot === undefined)
    return (
      <Page title="Workers">{error === undefined ? <Loading /> : <Problem error={error} onRetry={reload} />}</Page>
    );
  const rows = rowsOf(snapshot);
  const open = rows.find(({ key }) => key === openKey);
  return (
    <Page title="Workers" subtitle={subtitleOf(snapshot.workers)}>
      <Problem error={error} />
      <FleetWarnings workers={snapshot.workers} queues={queues} />
      {snapshot.workers.length > 0 && <FleetStats snapshot={snapshot} />}
      <Table
        label="Workers"
        columns={columnsOf(snapshot, onCommand)}
        rows={rows}
        keyOf={({ key }) => key}
        onOpen={({ key }) => setOpenKey(key)}
        empty={<NoWorkers queues={queues} />}
      />
      {open !== undefined && (
        <WorkerDialog
          row={open}
          snapshot={snapshot}
          onCommand={(command) => onCommand(command, open)}
          onClose={() => setOpenKey(undefined)}
        />
      )}
      {pending !== undefined && (
        <ConfirmCommand
          {...pending}
          all={snapshot.workers}
          queues={queues}
          onDone={reload}
          onClose={() => setPending(undefined)}
        />
      )}
    </Page>
  );
}

function useSnapshot() {
  const { error, reload } = usePolled(async (abort) => {
    const workers = await api().workers({ signal: abort });
    const next = nextSnapshot(currentSnapshot.peek(), workers, Date.now());
    currentSnapshot.value = next;
    lostAt.value = lostWorkers(next).map(({ goneAt }) => goneAt);
  }, POLL_MS);
  // The banner above the page reports an unreachable server.
  const isInBanner = currentSnapshot.value !== undefined && isApiError(error, "API_UNREACHABLE");
  return { snapshot: currentSnapshot.value, error: isInBanner ? undefined : error, reload };
}

function subtitleOf(workers: readonly WorkerOut[]): string {
  const machines = new Set(workers.map(({ host }) => host)).size;
  return workers.length === 0 ? "" : `${plural(workers.length, "worker")} on ${plural(machines, "machine")}`;
}

function FleetStats({ snapshot: { workers, paces, gone } }: { snapshot: WorkersSnapshot }) {
  const sum = (of: (worker: WorkerOut) => number | null) => workers.reduce((all, one) => all + (of(one) ?? 0), 0);
  const [busy, max, done, failed] = [
    sum((w) => w.busy),
    sum((w) => w.concurrency),
    sum((w) => w.done),
    sum((w) => w.failed),
  ];
  const isPaceKnown = workers.every(({ worker }) => paces.has(worker));
  const pace = [...paces.values()].reduce((all, one) => all + one, 0);
  return (
    <div class="stats">
      <Stat
        label="Busy"
        value={`${count(busy)} / ${count(max)}`}
        tip="Tasks in progress in all workers, out of the maximum."
        more={max === 0 ? "" : percent(busy / max)}
      />
      <Stat
        label="Tasks/s"
        value={isPaceKnown ? decimal(pace) : UNKNOWN}
        tip="Successful attempts per second of all workers, in the last seconds."
      />
      <Stat
        label="Done"
        value={count(done)}
        tip="Successful attempts of the running processes, each since its start. The work of stopped processes is only in the history."
        more={gone.length === 0 ? "by running workers" : `without ${plural(gone.length, "stopped worker")}`}
      />
      <Stat
        label="Failed"
        value={count(failed)}
        tip="Failed attempts of the running processes. Each is retried or becomes a dead letter. A URL that succeeds at the third attempt counts as failed twice and as done once."
        more={done + failed === 0 ? "" : `${percent(failed / (done + failed))} of attempts`}
      />
      <Stat label="Memory" value={bytes(sum((w) => w.rssBytes))} tip="Memory of all running processes." />
    </div>
  );
}

function NoWorkers({ queues }: { queues: readonly QueueOut[] }) {
  const waiting = queues.reduce((all, queue) => all + queue.waiting, 0);
  return (
    <Empty
      title={
        waiting === 0
          ? "No workers are connected."
          : `No workers are connected. ${plural(waiting, "task is", "tasks are")} waiting.`
      }
    >
      <p>Start workers with this command, on any machine that can reach the broker. They appear here within seconds.</p>
      <pre>trawl up</pre>
    </Empty>
  );
}
