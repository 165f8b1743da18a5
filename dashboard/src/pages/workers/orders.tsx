/** What may be asked of a worker, or of all that a supervisor has: the buttons, and the question before it is done. */
import type { OrderOut, QueueOut, WorkerOut } from "../../../../src/api/wire-fleet.ts";
import { connection } from "../../live.ts";
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
  const isAway = connection.value.state === "away";
  return (
    <span class="worker-orders">
      {can("recycle") && <OrderButton order="recycle" name={name} isAway={isAway} ask={ask} />}
      {can("drain") && <OrderButton order="drain" name={name} isAway={isAway} ask={ask} />}
    </span>
  );
}

const VERBS: Readonly<Record<Order, string>> = { drain: "Drain", recycle: "Recycle" };

type ButtonProps = { order: Order; name: string; isAway: boolean; ask: (order: Order) => void };

function OrderButton({ order, name, isAway, ask }: ButtonProps) {
  const verb = VERBS[order];
  return (
    <button type="button" class="small" aria-label={`${verb} ${name}`} disabled={isAway} onClick={() => ask(order)}>
      {verb}
    </button>
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
      title={`${VERBS[order]} ${shortName(target)}?`}
      verb={VERBS[order]}
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
