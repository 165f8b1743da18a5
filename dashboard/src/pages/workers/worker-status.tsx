/** The status of a worker as a badge. */
import type { WorkerOut } from "../../../../src/client/wire-types.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { count, decimal, duration, plural } from "../../ui/format.ts";
import { Tip } from "../../ui/tip.tsx";
import { type GoneWorker, SILENT_AFTER_MS } from "./fleet-rows.ts";

type WorkerStatus = { tone: Tone; label: string; tip: string };

type WorkerStatusProps = {
  worker: WorkerOut;
  silentMs: number;
  /** Tasks per second between its last two heartbeats; undefined if unknown. */
  pace: number | undefined;
};

export function WorkerStatusBadge({ worker, silentMs, pace }: WorkerStatusProps) {
  return <StatusTip {...workerStatusOf(worker, silentMs, pace)} />;
}

export function GoneStatusBadge({ gone, now }: { gone: GoneWorker; now: number }) {
  const { label, ...rest } = GONE[gone.how];
  return <StatusTip {...rest} label={`${label} ${duration(Math.max(1_000, now - gone.goneAt))} ago`} />;
}

const GONE: Readonly<Record<GoneWorker["how"], WorkerStatus>> = {
  lost: {
    tone: "bad",
    label: "lost",
    tip: "The worker sent no more heartbeats: it was killed or lost its connection to the broker. Other workers take its tasks when the leases expire.",
  },
  replaced: {
    tone: "bad",
    label: "lost",
    tip: "The worker was killed or crashed, and its supervisor started another process. Its tasks were requeued. The output of the supervisor (trawl up or trawl worker) shows the cause.",
  },
  left: {
    tone: "neutral",
    label: "stopped",
    tip: "The worker shut down cleanly: it was stopped, drained or recycled.",
  },
};

function StatusTip({ tone, label, tip }: WorkerStatus) {
  return (
    <Tip text={tip} isUnfocusable>
      <Badge tone={tone}>{label}</Badge>
    </Tip>
  );
}

export function workerStatusOf({ state, command, busy }: WorkerOut, silentMs: number, pace = 0): WorkerStatus {
  if (silentMs > SILENT_AFTER_MS) {
    const tip = "Workers send a heartbeat every 5 seconds. After 15 seconds without one, a worker counts as lost.";
    return { tone: "bad", label: `silent ${duration(silentMs)}`, tip };
  }
  if (state === "draining") {
    const after = command === "recycle" ? "Then a new process replaces it." : "Then it exits.";
    const tip = `The worker takes no new tasks and finishes ${plural(busy ?? 0, "task")}. ${after}`;
    return {
      tone: "warn",
      label: `${command === "recycle" ? "recycling" : "draining"}, ${count(busy ?? 0)} left`,
      tip,
    };
  }
  if (command !== null) {
    return {
      tone: "warn",
      label: `${command} requested`,
      tip: "The worker reads the command with its next heartbeat, within 5 seconds.",
    };
  }
  // Short tasks start and end between two heartbeats, so a worker with `busy` 0 is not always idle.
  if (busy === 0 && pace === 0)
    return {
      tone: "neutral",
      label: "idle",
      tip: "The worker has no tasks: none are waiting, or no site allows a request now.",
    };
  const rate = pace === 0 ? "" : `, ${decimal(pace)} per second recently`;
  return {
    tone: "good",
    label: "working",
    tip: `${plural(busy ?? 0, "task")} in progress at the last heartbeat${rate}.`,
  };
}
