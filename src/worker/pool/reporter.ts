/**
 * Tells a supervisor what its worker process has in hand. Runs in the worker process; what is said of a task goes out
 * before its page can be there, so that a handler which never lets go is known by name.
 */
import { clearInterval, setImmediate, setInterval } from "node:timers";
import type { Service } from "../../runtime/service.ts";
import type { TaskWatch } from "../task-watch.ts";
import type { WorkerTally } from "../worker.ts";
import { type ChildMessage, PULSE_MS, type TaskUnderWay, taskKey } from "./messages.ts";

export type Reporter = Service & {
  watch: TaskWatch;
  /** Tells that no more tasks are taken: after which ones. */
  retire(): void;
};

type Deps = { send(message: ChildMessage): void; tally(): WorkerTally; rssMb(): number };

export function createReporter({ send, tally, rssMb }: Deps): Reporter {
  const began = new Map<string, TaskUnderWay>();
  const ended = new Set<string>();
  let isDue = false;
  let pulse: NodeJS.Timeout | undefined;

  /** Once in a turn of the event loop, which takes no page from the network before its turn is over. */
  function tellSoon(): void {
    if (isDue) return;
    isDue = true;
    setImmediate(tell);
  }

  function tell(): void {
    isDue = false;
    send({ kind: "tasks", began: [...began.values()], ended: [...ended], tally: tally() });
    began.clear();
    ended.clear();
  }

  return {
    watch: {
      began({ taskId, token, url }) {
        began.set(taskKey({ taskId, token }), { taskId, token, url });
        tellSoon();
      },
      ended(grant) {
        const key = taskKey(grant);
        if (!began.delete(key)) ended.add(key);
        tellSoon();
      },
      settled: tellSoon,
    },
    retire() {
      tell();
      send({ kind: "retiring" });
    },
    start() {
      pulse ??= setInterval(() => send({ kind: "pulse", rssMb: rssMb() }), PULSE_MS);
    },
    async stop() {
      clearInterval(pulse);
      tell();
    },
  };
}
