/**
 * Reports the tasks of a worker process to its supervisor. Runs in the worker process. Before a handler is called, it
 * reports which page the handler will read, so that the supervisor knows the page of a handler that never returns.
 */
import { clearInterval, setImmediate, setInterval } from "node:timers";
import { claimKey } from "../../frontier/frontier.ts";
import type { Snapshot } from "../../runtime/metrics.ts";
import type { Service } from "../../runtime/service.ts";
import type { TaskObserver } from "../observe/task-observer.ts";
import type { WorkerTally } from "../worker.ts";
import { type ChildMessage, PULSE_MS, type TaskUnderWay } from "./messages.ts";

type Reporter = Service & {
  observer: TaskObserver;
  /** Reports the current tasks, then that the process leases no more tasks. */
  retire(): void;
};

type Deps = {
  send(message: ChildMessage): void;
  tally(): WorkerTally;
  rssMb(): number;
  /** Undefined if metrics are off. */
  metrics(): Snapshot | undefined;
};

export function createReporter({ send, tally, rssMb, metrics }: Deps): Reporter {
  const began = new Map<string, TaskUnderWay>();
  const reading = new Set<string>();
  const ended = new Set<string>();
  let isDue = false;
  let pulse: NodeJS.Timeout | undefined;

  /**
   * Sends one message per turn of the event loop. That is early enough: no page arrives from the network within a turn.
   */
  function sendSoon(): void {
    if (isDue) return;
    isDue = true;
    setImmediate(sendTasks);
  }

  function sendTasks(): void {
    isDue = false;
    send({ kind: "tasks", began: [...began.values()], reading: [...reading], ended: [...ended], tally: tally() });
    began.clear();
    reading.clear();
    ended.clear();
  }

  function beat(): void {
    send({ kind: "pulse", rssMb: rssMb(), metrics: metrics() });
  }

  return {
    observer: {
      leased({ grant: { jobId, taskId, token, url, kind: step, attempt }, isAlone }) {
        began.set(claimKey({ taskId, token }), { jobId, taskId, token, url, step, attempt, isAlone });
        sendSoon();
      },
      reading({ grant }) {
        reading.add(claimKey(grant));
        sendTasks(); // at once: if the handler never returns, there is no later turn
      },
      ended({ grant }) {
        const key = claimKey(grant);
        if (!began.delete(key)) ended.add(key);
        sendSoon();
      },
      settled: sendSoon,
    },
    retire() {
      sendTasks();
      send({ kind: "retiring" });
    },
    start() {
      pulse ??= setInterval(beat, PULSE_MS);
    },
    async stop() {
      clearInterval(pulse);
      sendTasks();
      beat(); // the final metrics
    },
  };
}
