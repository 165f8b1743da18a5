/**
 * Tells a supervisor what its worker process has in hand. Runs in the worker process. That a page is being read goes out
 * before its handler is called, so that one which never lets go is known by name.
 */
import { clearInterval, setImmediate, setInterval } from "node:timers";
import { claimKey } from "../../frontier/frontier.ts";
import type { Snapshot } from "../../runtime/metrics.ts";
import type { Service } from "../../runtime/service.ts";
import type { TaskWatch } from "../task-watch.ts";
import type { WorkerTally } from "../worker.ts";
import { type ChildMessage, PULSE_MS, type TaskUnderWay } from "./messages.ts";

export type Reporter = Service & {
  watch: TaskWatch;
  /** Tells that no more tasks are taken: after which ones. */
  retire(): void;
};

type Deps = {
  send(message: ChildMessage): void;
  tally(): WorkerTally;
  rssMb(): number;
  /** Undefined where nobody wants to know. */
  metrics(): Snapshot | undefined;
};

export function createReporter({ send, tally, rssMb, metrics }: Deps): Reporter {
  const began = new Map<string, TaskUnderWay>();
  const reading = new Set<string>();
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
    send({ kind: "tasks", began: [...began.values()], reading: [...reading], ended: [...ended], tally: tally() });
    began.clear();
    reading.clear();
    ended.clear();
  }

  function beat(): void {
    send({ kind: "pulse", rssMb: rssMb(), metrics: metrics() });
  }

  return {
    watch: {
      began({ jobId, taskId, token, url, kind: step, attempt }, isAlone) {
        began.set(claimKey({ taskId, token }), { jobId, taskId, token, url, step, attempt, isAlone });
        tellSoon();
      },
      reading(grant) {
        reading.add(claimKey(grant));
        tell(); // written to the channel at once: there may be no later
      },
      ended(grant) {
        const key = claimKey(grant);
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
      pulse ??= setInterval(beat, PULSE_MS);
    },
    async stop() {
      clearInterval(pulse);
      tell();
      beat(); // what it counted last
    },
  };
}
