/** What may be asked of a worker, or of all that a supervisor has: the buttons, and the question before it is done. */
import type { OrderOut, QueueOut, WorkerOut } from "../../../../src/api/wire-fleet.ts";
import { api } from "../../session.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { count, plural } from "../../ui/format.ts";
import { type FleetRow, shortName } from "./fleet-rows.ts";

export type Order = OrderOut;

export function Orders({ row, ask }: { row: FleetRow; ask: (order: Order) => void }) {
  if (row.kind === "gone") return null;
  const members = row.kind === "group" ? row.members : [row.worker];
  const can = (order: Order) => members.some((one) => one.obeys.includes(order) && one.state !== "draining");
  const name = row.kind === "group" ? shortName(row.supervisor) : shortName(row.worker.worker);
  return (
    <span class="worker-orders">
      {can("recycle") && (
        <button type="button" class="small" aria-label={`Recycle ${name}`} onClick={() => ask("recycle")}>
          Recycle
        </button>
      )}
      {can("drain") && (
        <button type="button" class="small" aria-label={`Drain ${name}`} onClick={() => ask("drain")}>
          Drain
        </button>
      )}
    </span>
  );
}

type ConfirmProps = {
  order: Order;
  row: Exclude<FleetRow, { kind: "gone" }>;
  all: readonly WorkerOut[];
  queues: readonly QueueOut[];
  onDone: () => void;
  onClose: () => void;
};

export function ConfirmOrder({ order, row, all, queues, onDone, onClose }: ConfirmProps) {
  const members = row.kind === "group" ? row.members : [row.worker];
  const target = row.kind === "group" ? row.supervisor : row.worker.worker;
  const busy = members.reduce((sum, one) => sum + (one.busy ?? 0), 0);
  const isOne = members.length === 1;
  const who = isOne ? "It takes" : `All ${members.length} processes take`;
  return (
    <Confirm
      title={`${order === "drain" ? "Drain" : "Recycle"} ${shortName(target)}?`}
      verb={order === "drain" ? "Drain" : "Recycle"}
      act={async () => {
        await api().order(target, order);
        onDone();
      }}
      onClose={onClose}
    >
      <p>
        {who} no more tasks{busy === 0 ? "" : `, ${isOne ? "ends" : "end"} the ${count(busy)} under way`}, and{" "}
        {becomesOf(order, { isOne, isGroup: row.kind === "group" })} Nothing is lost. It is heard within 5 seconds.
      </p>
      {order === "drain" && row.kind === "group" && (
        <p class="quiet">
          Where it was started by trawl up, the server of that ends last: this page may be served by it.
        </p>
      )}
      {order === "drain" && <LeftAlone members={members} all={all} queues={queues} />}
    </Confirm>
  );
}

function becomesOf(order: Order, { isOne, isGroup }: { isOne: boolean; isGroup: boolean }): string {
  if (order === "recycle")
    return isOne ? "a fresh one takes its place at once." : "fresh ones take their places at once.";
  const ends = isGroup ? `the supervisor ends with ${isOne ? "it" : "them"}` : "then it ends";
  return `${ends}. Nobody takes ${isOne ? "its place" : "their places"}.`;
}

/** Queues that nobody would serve any more, though something waits there. */
function LeftAlone({
  members,
  all,
  queues,
}: {
  members: readonly WorkerOut[];
  all: readonly WorkerOut[];
  queues: readonly QueueOut[];
}) {
  const leaving = new Set(members.map(({ worker }) => worker));
  const stay = all.filter(({ worker, state }) => !leaving.has(worker) && state !== "draining");
  const alone = queues.filter(
    ({ queue, waiting }) =>
      waiting > 0 &&
      members.some((one) => one.queues.includes(queue)) &&
      !stay.some((one) => one.queues.includes(queue)),
  );
  if (alone.length === 0) return null;
  const words = alone.map(({ queue, waiting }) => `${queue} (${plural(waiting, "task")})`).join(", ");
  return (
    <p class="note note-warn">Nobody else serves {words}: what waits there stands still until another worker comes.</p>
  );
}
