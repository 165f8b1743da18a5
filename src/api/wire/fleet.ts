/** Schemas of queues and workers. */
import { z } from "zod";
import type { QueueOut } from "../../control/views/fleet.ts";
import { OPERATOR_COMMANDS } from "../../frontier/frontier.ts";
import type { WorkerView } from "../../frontier/frontier-admin.ts";
import { workerFacts } from "../../frontier/worker-facts.ts";
import { parseProcessIdentity } from "../../runtime/process-identity.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();

export const queueSchemaOut = z.strictObject({
  queue: z.string(),
  waiting: count,
  workers: count.describe("The number of workers that serve the queue."),
  free: count.describe("How many more tasks these workers could start now, according to their last heartbeats."),
}) satisfies z.ZodType<QueueOut>;

export const commandSchemaOut = z.enum(OPERATOR_COMMANDS);

export const workerSchemaOut = z.strictObject({
  worker: z.string(),
  host: z.string(),
  pid: z.int().nullable(),
  version: z.string(),
  queues: z.array(z.string()),
  unknownSpiders: z.array(z.string()),
  concurrency: count.nullable(),
  busy: count.nullable(),
  done: count.nullable(),
  failed: count.nullable(),
  rssBytes: count.nullable(),
  maxMemoryBytes: count.nullable().describe("A worker above this memory limit is replaced. null: no limit."),
  maxTasks: count.nullable().describe("After this many tasks the worker is replaced. null: no limit."),
  eventLoopUse: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe("Event loop utilization of the worker's thread over the last seconds."),
  recent: z
    .strictObject({ ms: count, pages: count, done: count, failed: count })
    .nullable()
    .describe("What the worker did in the 5 to 10 seconds before `seenAt`. `ms` is the exact length of that time."),
  state: z
    .enum(["working", "draining"])
    .nullable()
    .describe(
      "`draining`: the worker takes no new tasks, and exits when its tasks have ended. null: the worker runs an older version.",
    ),
  command: commandSchemaOut
    .nullable()
    .describe("The command that was sent to the worker. The worker receives it within seconds."),
  commands: z.array(commandSchemaOut).describe("The commands that the worker accepts."),
  supervisor: z.string().nullable(),
  startedAt: instant.nullable(),
  seenAt: instant,
});

export type CommandOut = z.output<typeof commandSchemaOut>;
export type WorkerOut = z.output<typeof workerSchemaOut>;

export function workerOut(view: WorkerView): WorkerOut {
  const { worker, queues, unknownSpiders, version } = view;
  const { host, pid = null } = parseProcessIdentity(worker);
  return {
    ...{ worker, host, pid, version, queues: [...queues], unknownSpiders: [...unknownSpiders] },
    ...workerFacts(view),
  };
}
