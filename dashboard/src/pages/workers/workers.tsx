/** Who works, how they are doing, and what to ask of them. */
import { useState } from "preact/hooks";
import type { QueueOut, WorkerOut } from "../../../../src/api/wire-fleet.ts";
import { fleet } from "../../live.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { bytes, count, decimal, percent, plural, UNKNOWN } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Stat } from "../../ui/stat.tsx";
import { Table } from "../../ui/table.tsx";
import { columnsOf } from "./columns.tsx";
import { Details } from "./details.tsx";
import { type FleetRow, rowsOf, type Watched } from "./fleet-rows.ts";
import { Notes } from "./notes.tsx";
import { ConfirmOrder, type Order } from "./orders.tsx";
import { useFleet } from "./use-fleet.ts";
import "./workers.css";

type Asking = { order: Order; row: Exclude<FleetRow, { kind: "gone" }> };

export function Workers() {
  const { watched, error, reload } = useFleet();
  const [asking, setAsking] = useState<Asking | undefined>(undefined);
  const [openKey, setOpenKey] = useState<string | undefined>(undefined);
  const queues = fleet.value?.queues ?? [];
  const ask = (order: Order, row: FleetRow) => {
    if (row.kind === "gone") return;
    setOpenKey(undefined);
    setAsking({ order, row });
  };
  if (watched === undefined)
    return (
      <Page title="Workers">{error === undefined ? <Loading /> : <Problem error={error} onRetry={reload} />}</Page>
    );
  const rows = rowsOf(watched);
  const open = rows.find(({ key }) => key === openKey);
  return (
    <Page title="Workers" says={saysOf(watched.workers)}>
      <Problem error={error} />
      <Notes workers={watched.workers} queues={queues} />
      {watched.workers.length > 0 && <Sums watched={watched} />}
      <Table
        label="Workers"
        columns={columnsOf(watched, ask)}
        rows={rows}
        keyOf={({ key }) => key}
        onOpen={({ key }) => setOpenKey(key)}
        empty={<NoWorkers queues={queues} />}
      />
      {open !== undefined && (
        <Details row={open} watched={watched} ask={(order) => ask(order, open)} onClose={() => setOpenKey(undefined)} />
      )}
      {asking !== undefined && (
        <ConfirmOrder
          {...asking}
          all={watched.workers}
          queues={queues}
          onDone={reload}
          onClose={() => setAsking(undefined)}
        />
      )}
    </Page>
  );
}

function saysOf(workers: readonly WorkerOut[]): string {
  const machines = new Set(workers.map(({ host }) => host)).size;
  return workers.length === 0 ? "" : `${plural(workers.length, "worker")} on ${plural(machines, "machine")}`;
}

function Sums({ watched: { workers, paces, gone } }: { watched: Watched }) {
  const sum = (of: (worker: WorkerOut) => number | null) => workers.reduce((all, one) => all + (of(one) ?? 0), 0);
  const [busy, most, done, failed] = [
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
        value={`${count(busy)} / ${count(most)}`}
        tip="Tasks under way in all workers, of how many they could have at once."
        more={most === 0 ? "" : percent(busy / most)}
      />
      <Stat
        label="Tasks a second"
        value={isPaceKnown ? decimal(pace) : UNKNOWN}
        tip="Leases that ended as they should, over the last seconds, all workers together."
      />
      <Stat
        label="Done"
        value={count(done)}
        tip="Leases that ended as they should, of the processes that are there now, since each started. What those did that they replaced is in the history."
        more={gone.length === 0 ? "of those at work now" : `without ${count(gone.length)} now gone`}
      />
      <Stat
        label="Failed"
        value={count(failed)}
        tip="Leases that ended without a page, to be tried again or given up on. A URL that is tried three times may fail twice and be done once. Of the processes that are there now."
        more={done + failed === 0 ? "" : `${percent(failed / (done + failed))} of all`}
      />
      <Stat label="Memory" value={bytes(sum((w) => w.rssBytes))} tip="What all of these processes have in memory." />
    </div>
  );
}

function NoWorkers({ queues }: { queues: readonly QueueOut[] }) {
  const waiting = queues.reduce((all, queue) => all + queue.waiting, 0);
  return (
    <Empty
      title={
        waiting === 0
          ? "No worker is there."
          : `No worker is there, and ${plural(waiting, "task")} ${waiting === 1 ? "waits" : "wait"}.`
      }
    >
      <p>Start some, on this machine or any other that reaches the broker. They are seen here within seconds.</p>
      <pre>trawl up</pre>
    </Empty>
  );
}
