/** The process groups of `trawl up`: one for each kind of worker, and one for each --queue. */
import { InvalidArgumentError } from "commander";
import { DELIVER_QUEUE } from "../../domain/webhook.ts";
import { TrawlError } from "../../errors.ts";
import { queueName, refuseCrawlQueues, wholeNumber } from "../flags.ts";
import { type ListenFlags, listenArgs } from "../serve/serve-flags.ts";
import { type ConnectionFlags, connectionArgs } from "../session.ts";
import { type ProcessFlags, processArgs } from "../worker/process-flags.ts";
import type { PoolGroup } from "../worker/run-pool.ts";

export const MAX_PROCESSES = 256;

type QueueCount = { queue: string; processes: number };

export type UpFlags = ConnectionFlags &
  ProcessFlags &
  ListenFlags & {
    fetch: number;
    render: number;
    parse: number;
    queue: QueueCount[];
    serve: boolean;
    quiet?: boolean;
  };

/** A group serves the queue of its name. One group also delivers webhook events, unless `deliver` has its own group. */
export type UpGroup = PoolGroup & { name: string };

/** Parses the repeatable `--queue name=processes`; the default is one process. */
export function queueCount(value: string, before: readonly QueueCount[]): QueueCount[] {
  const [name = "", count = "1", ...rest] = value.split("=");
  if (rest.length > 0)
    throw new InvalidArgumentError("--queue must have the form name=processes, for example high_priority=2.");
  const queue = queueName("--queue")(name);
  return [...before, { queue, processes: wholeNumber("--queue name=", 1, MAX_PROCESSES)(count) }];
}

/** Queue names have no spaces, so this group name cannot collide with one. */
const SERVER = "trawl serve";

/** The API server's group; empty with --no-serve. */
export function serverGroup(flags: UpFlags): PoolGroup[] {
  if (!flags.serve) return [];
  return [
    { name: SERVER, processes: 1, args: ["serve", ...connectionArgs(flags), ...listenArgs(flags)], outlasts: true },
  ];
}

export function groupsOf(flags: UpFlags): UpGroup[] {
  const kinds = (["fetch", "render", "parse"] as const).map((queue) => ({ queue, processes: flags[queue] }));
  const wanted = [...kinds, ...flags.queue].filter(({ processes }) => processes > 0);
  refuseCrawlQueues(wanted.map(({ queue }) => queue));
  const twice = wanted.find(({ queue }, index) => wanted.findIndex((other) => other.queue === queue) < index);
  if (twice !== undefined) throw bad(`queue ${twice.queue} is set twice; set its number of processes once`);
  if (wanted.length === 0) throw bad("nothing to start: all counts are 0; try: trawl up --fetch 1");
  const delivering = wanted.find(({ queue }) => queue === "fetch") ?? wanted[0];
  const hasOwn = wanted.some(({ queue }) => queue === DELIVER_QUEUE);
  return wanted.map(({ queue, processes }) => ({
    name: queue,
    processes,
    args: [
      "worker",
      "--queues",
      !hasOwn && delivering?.queue === queue ? `${queue},${DELIVER_QUEUE}` : queue,
      ...connectionArgs(flags),
      ...processArgs(flagsFor(queue, flags)),
    ],
  }));
}

/**
 * The flags of the processes of a queue. --concurrency applies to all except render and parse processes, which use
 * their own defaults.
 */
function flagsFor(queue: string, { concurrency, ...flags }: UpFlags): ProcessFlags {
  const isFetching = queue !== "render" && queue !== "parse";
  return isFetching && concurrency !== undefined ? { ...flags, concurrency } : flags;
}

function bad(message: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.up", message });
}
