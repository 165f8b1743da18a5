/** All that a worker tells of itself, and what may be asked of it. */
import type { WorkerOut } from "../../../../src/api/wire-fleet.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { count, decimal, percent, plural, UNKNOWN } from "../../ui/format.ts";
import { Scraped } from "../../ui/scraped.tsx";
import { Ago } from "../../ui/time.tsx";
import { Busy, Memory, membersOf, upOf } from "./columns.tsx";
import { type FleetRow, shortName, type Watched } from "./fleet-rows.ts";
import { type Order, Orders } from "./orders.tsx";

type DetailsProps = {
  row: FleetRow;
  watched: Watched;
  ask: (order: Order) => void;
  onClose: () => void;
};

export function Details({ row, watched, ask, onClose }: DetailsProps) {
  const members = membersOf(row);
  const title =
    row.kind === "group" ? row.supervisor : row.kind === "gone" ? row.gone.worker.worker : row.worker.worker;
  const worker = row.kind === "gone" ? row.gone.worker : row.kind === "worker" ? row.worker : undefined;
  return (
    <Dialog title={shortName(title)} onClose={onClose}>
      <dl class="facts">
        <dt>Name</dt>
        <dd class="mono">{title}</dd>
        {members.length > 0 && (
          <>
            <dt>Busy</dt>
            <dd>
              <Busy members={members} />
            </dd>
            <dt>Memory</dt>
            <dd>
              <Memory members={members} />
            </dd>
          </>
        )}
        {worker === undefined ? null : <WorkerFacts worker={worker} pace={watched.paces.get(worker.worker)} />}
      </dl>
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <Orders row={row} ask={ask} />
      </div>
    </Dialog>
  );
}

function WorkerFacts({ worker, pace }: { worker: WorkerOut; pace: number | undefined }) {
  const facts: [string, string][] = [
    ["Done", count(worker.done)],
    ["Failed", count(worker.failed)],
    ["Tasks a second", pace === undefined ? UNKNOWN : decimal(pace)],
    ["Thread at work", percent(worker.loopUse)],
    ["Retires after", worker.tasksMost === null ? "any number of tasks" : plural(worker.tasksMost, "task")],
    ["Up", upOf(worker)],
    ["Version", worker.version],
    ["Supervisor", worker.supervisor === null ? "none: it works alone" : shortName(worker.supervisor)],
  ];
  return (
    <>
      {facts.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
      <dt>Heard</dt>
      <dd>
        <Ago at={worker.seenAt} />
      </dd>
      <dt>Queues</dt>
      <dd>
        <Scraped text={worker.queues.join(", ")} />
      </dd>
    </>
  );
}
