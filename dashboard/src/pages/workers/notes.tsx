/** What is wrong with the fleet, and what to do about it. */
import type { ComponentChildren } from "preact";
import type { QueueOut, WorkerOut } from "../../../../src/api/wire-fleet.ts";
import { plural } from "../../ui/format.ts";
import { Scraped } from "../../ui/scraped.tsx";

/** So busy that more tasks would only wait for the thread. */
const THREAD_FULL = 0.95;

export function Notes({ workers, queues }: { workers: readonly WorkerOut[]; queues: readonly QueueOut[] }) {
  const unserved = queues.filter((queue) => queue.workers === 0 && queue.waiting > 0);
  const versions = [...new Set(workers.map(({ version }) => version))].sort();
  const spiders = [...new Set(workers.flatMap(({ unknownSpiders }) => unknownSpiders))];
  const full = workers.filter(({ loopUse }) => (loopUse ?? 0) >= THREAD_FULL);
  return (
    <>
      {unserved.map(({ queue, waiting }) => (
        <Note
          key={queue}
          tone="bad"
          title={`Nobody serves the queue ${queue}: ${plural(waiting, "task")} ${waiting === 1 ? "waits" : "wait"} there.`}
        >
          Start a worker that does: <code>trawl worker --queues {queue}</code>
        </Note>
      ))}
      {spiders.map((spider) => (
        <Note key={spider} tone="bad" title="A worker was given a job whose spider it cannot load.">
          Put the file at the same path on every machine: <Scraped text={spider} />
        </Note>
      ))}
      {versions.length > 1 && (
        <Note
          tone="warn"
          title={`Versions differ: ${versions.map((version) => `${workers.filter((one) => one.version === version).length} on ${version}`).join(", ")}.`}
        >
          They work side by side, as during an upgrade. Drain the old ones when the new ones are there.
        </Note>
      )}
      {full.length > 0 && (
        <Note
          tone="warn"
          title={`${plural(full.length, "worker")} ${full.length === 1 ? "has" : "have"} no time left: the thread is busy all the time.`}
        >
          More tasks at once would not help. Start more processes, on this machine or another:{" "}
          <code>trawl worker --processes 2</code>
        </Note>
      )}
    </>
  );
}

function Note({ tone, title, children }: { tone: "bad" | "warn"; title: string; children: ComponentChildren }) {
  return (
    <div class={`note note-${tone}`}>
      <p class="note-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}
