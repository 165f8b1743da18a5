/** Warnings about the fleet, each with its fix. */
import type { ComponentChildren } from "preact";
import type { QueueOut, WorkerOut } from "../../../../src/client/wire-types.ts";
import { plural } from "../../ui/format.ts";
import { Scraped } from "../../ui/scraped.tsx";
import { serveQueue } from "../../ui/serve-queue.ts";

/** From this share on, more tasks per process do not help. */
const THREAD_FULL = 0.95;

export function FleetWarnings({ workers, queues }: { workers: readonly WorkerOut[]; queues: readonly QueueOut[] }) {
  const unserved = queues.filter((queue) => queue.workers === 0 && queue.waiting > 0);
  const versions = [...new Set(workers.map(({ version }) => version))].sort();
  const spiders = [...new Set(workers.flatMap(({ unknownSpiders }) => unknownSpiders))];
  const full = workers.filter(({ eventLoopUse }) => (eventLoopUse ?? 0) >= THREAD_FULL);
  return (
    <>
      {unserved.map(({ queue, waiting }) => {
        const { problem, action, command } = serveQueue(queue);
        const title = `${problem}. ${plural(waiting, "task is", "tasks are")} waiting.`;
        return (
          <Warning key={queue} tone="bad" title={title}>
            {action}: <code>{command}</code>
          </Warning>
        );
      })}
      {spiders.map((spider) => (
        <Warning key={spider} tone="bad" title="A worker cannot load the spider of a job.">
          Copy the file to the same path on every machine: <Scraped text={spider} />
        </Warning>
      ))}
      {versions.length > 1 && (
        <Warning
          tone="warn"
          title={`The workers run different versions: ${versions.map((version) => `${workers.filter((one) => one.version === version).length} on ${version}`).join(", ")}.`}
        >
          Different versions can run together during an upgrade. Drain the old workers when the new ones are running.
        </Warning>
      )}
      {full.length > 0 && (
        <Warning
          tone="warn"
          title={`${plural(full.length, "worker is", "workers are")} at full load: the main thread is always busy.`}
        >
          A higher concurrency does not help. Start more processes, on this or another machine:{" "}
          <code>trawl worker --processes 2</code>
        </Warning>
      )}
    </>
  );
}

function Warning({ tone, title, children }: { tone: "bad" | "warn"; title: string; children: ComponentChildren }) {
  return (
    <div class={`note note-${tone}`}>
      <p class="note-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}
