/** The details of a worker or a supervisor, with its commands. */
import type { WorkerOut } from "../../../../src/client/wire-types.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { count, decimal, percent, plural, UNKNOWN } from "../../ui/format.ts";
import { Scraped } from "../../ui/scraped.tsx";
import { Ago } from "../../ui/time.tsx";
import { type FleetRow, shortName, type WorkersSnapshot } from "./fleet-rows.ts";
import { Busy, Memory, membersOf, uptimeOf } from "./worker-columns.tsx";
import { CommandButtons, type WorkerCommand } from "./worker-commands.tsx";

type WorkerDialogProps = {
  row: FleetRow;
  snapshot: WorkersSnapshot;
  onCommand: (command: WorkerCommand) => void;
  onClose: () => void;
};

export function WorkerDialog({ row, snapshot, onCommand, onClose }: WorkerDialogProps) {
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
        {worker === undefined ? null : <WorkerFacts worker={worker} pace={snapshot.paces.get(worker.worker)} />}
      </dl>
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <CommandButtons row={row} onCommand={onCommand} />
      </div>
    </Dialog>
  );
}

function WorkerFacts({ worker, pace }: { worker: WorkerOut; pace: number | undefined }) {
  const facts: [string, string][] = [
    ["Done", count(worker.done)],
    ["Failed", count(worker.failed)],
    ["Tasks per second", pace === undefined ? UNKNOWN : decimal(pace)],
    ["Thread busy", percent(worker.eventLoopUse)],
    ["Task limit", worker.maxTasks === null ? "none" : plural(worker.maxTasks, "task")],
    ["Uptime", uptimeOf(worker)],
    ["Version", worker.version],
    ["Supervisor", worker.supervisor === null ? "none" : shortName(worker.supervisor)],
  ];
  return (
    <>
      {facts.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
      <dt>Last seen</dt>
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
