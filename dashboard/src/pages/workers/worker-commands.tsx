/** Commands for a worker or for all processes of a supervisor: the buttons and the confirmation dialog. */
import type { CommandOut, QueueOut, WorkerOut } from "../../../../src/client/wire-types.ts";
import { connection } from "../../live.ts";
import { api } from "../../session.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { plural } from "../../ui/format.ts";
import { type FleetRow, shortName } from "./fleet-rows.ts";

export type WorkerCommand = CommandOut;

type ButtonsProps = { row: FleetRow; isSmall?: boolean; onCommand: (command: WorkerCommand) => void };

export function CommandButtons({ row, isSmall = false, onCommand }: ButtonsProps) {
  if (row.kind === "gone") return null;
  const members = row.kind === "group" ? row.members : [row.worker];
  const can = (command: WorkerCommand) =>
    members.some((one) => one.commands.includes(command) && one.state !== "draining");
  const name = row.kind === "group" ? shortName(row.supervisor) : shortName(row.worker.worker);
  const isDisabled = connection.value.state === "lost";
  const button = (command: WorkerCommand) => (
    <button
      type="button"
      class={isSmall ? "small" : ""}
      aria-label={`${VERBS[command]} ${name}`}
      disabled={isDisabled}
      onClick={() => onCommand(command)}
    >
      {VERBS[command]}
    </button>
  );
  return (
    <span class="worker-commands">
      {can("recycle") && button("recycle")}
      {can("drain") && button("drain")}
    </span>
  );
}

const VERBS: Readonly<Record<WorkerCommand, string>> = { drain: "Drain", recycle: "Recycle" };

type ConfirmCommandProps = {
  command: WorkerCommand;
  row: Exclude<FleetRow, { kind: "gone" }>;
  all: readonly WorkerOut[];
  queues: readonly QueueOut[];
  onDone: () => void;
  onClose: () => void;
};

export function ConfirmCommand({ command, row, all, queues, onDone, onClose }: ConfirmCommandProps) {
  const members = row.kind === "group" ? row.members : [row.worker];
  const target = row.kind === "group" ? row.supervisor : row.worker.worker;
  const busy = members.reduce((sum, one) => sum + (one.busy ?? 0), 0);
  const isOne = members.length === 1;
  const who = isOne ? "The worker takes" : `All ${members.length} processes take`;
  const finish = busy === 0 ? "" : ` and ${isOne ? "finishes" : "finish"} the ${plural(busy, "task")} in progress`;
  return (
    <Confirm
      title={`${VERBS[command]} ${shortName(target)}?`}
      verb={VERBS[command]}
      act={async () => {
        await api().command(target, command);
        onDone();
      }}
      onClose={onClose}
    >
      <p>
        {who} no new tasks{finish}. {resultText(command, { isOne, isGroup: row.kind === "group" })} No task is lost. The
        command takes effect within 5 seconds.
      </p>
      {command === "drain" && row.kind === "group" && (
        <p class="muted">
          If the supervisor was started with trawl up, its server stops too. That server may serve this page.
        </p>
      )}
      {command === "drain" && <UnservedQueues members={members} all={all} queues={queues} />}
    </Confirm>
  );
}

function resultText(command: WorkerCommand, { isOne, isGroup }: { isOne: boolean; isGroup: boolean }): string {
  if (command === "recycle") return isOne ? "A new process replaces it." : "New processes replace them.";
  const exits = isGroup ? "Then the processes and their supervisor exit" : "Then it exits";
  return `${exits}, and no new process is started.`;
}

/** Warns about queues with waiting tasks that no remaining worker would serve. */
function UnservedQueues({
  members,
  all,
  queues,
}: {
  members: readonly WorkerOut[];
  all: readonly WorkerOut[];
  queues: readonly QueueOut[];
}) {
  const drained = new Set(members.map(({ worker }) => worker));
  const remaining = all.filter(({ worker, state }) => !drained.has(worker) && state !== "draining");
  const unserved = queues.filter(
    ({ queue, waiting }) =>
      waiting > 0 &&
      members.some((one) => one.queues.includes(queue)) &&
      !remaining.some((one) => one.queues.includes(queue)),
  );
  if (unserved.length === 0) return null;
  const names = unserved.map(({ queue, waiting }) => `${queue} (${plural(waiting, "task")})`).join(", ");
  return (
    <p class="note note-warn">No other worker serves {names}. These tasks wait until another worker is started.</p>
  );
}
