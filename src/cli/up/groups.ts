/** Which groups of processes `trawl up` starts: one for each kind of work, and one for each queue that was named. */
import { InvalidArgumentError } from "commander";
import { DELIVER_QUEUE } from "../../domain/webhook.ts";
import { TrawlError } from "../../errors.ts";
import { queueName, wholeNumber } from "../flags.ts";
import { type ListenFlags, listenWords } from "../serve/serve-flags.ts";
import { type PlaceFlags, placeWords } from "../session.ts";
import { type ProcessFlags, wordsOf } from "../worker/process-flags.ts";
import type { PoolGroup } from "../worker/run-pool.ts";

export const MOST_PROCESSES = 256;

export type QueueCount = { queue: string; processes: number };

export type UpFlags = PlaceFlags &
  ProcessFlags &
  ListenFlags & {
    fetch: number;
    render: number;
    parse: number;
    queue: QueueCount[];
    serve: boolean;
    quiet?: boolean;
  };

/** A group serves the queue that it is named after; one of them delivers events besides, unless that has its own. */
export type UpGroup = PoolGroup & { name: string };

/** Reads `--queue name=processes`, which may be given more than once; without a number it is one. */
export function queueCount(value: string, before: readonly QueueCount[]): QueueCount[] {
  const [name = "", count = "1", ...rest] = value.split("=");
  if (rest.length > 0) throw new InvalidArgumentError("--queue takes name=processes, such as high_priority=2.");
  const queue = queueName("--queue")(name);
  return [...before, { queue, processes: wholeNumber("--queue name=", 1, MOST_PROCESSES)(count) }];
}

/** No queue has a space in its name: this one is nobody's. */
const SERVER = "trawl serve";

/** The control plane, unless there is to be none. */
export function serverGroup(flags: UpFlags): PoolGroup[] {
  if (!flags.serve) return [];
  return [
    { name: SERVER, processes: 1, words: ["serve", ...placeWords(flags), ...listenWords(flags)], outlasts: true },
  ];
}

export function groupsOf(flags: UpFlags): UpGroup[] {
  const kinds = (["fetch", "render", "parse"] as const).map((queue) => ({ queue, processes: flags[queue] }));
  const asked = [...kinds, ...flags.queue].filter(({ processes }) => processes > 0);
  const twice = asked.find(({ queue }, index) => asked.findIndex((other) => other.queue === queue) < index);
  if (twice !== undefined) throw bad(`the queue ${twice.queue} is named twice; give its processes once`);
  if (asked.length === 0) throw bad("there is nothing to start: every count is 0; try: trawl up --fetch 1");
  const delivering = asked.find(({ queue }) => queue === "fetch") ?? asked[0];
  const hasOwn = asked.some(({ queue }) => queue === DELIVER_QUEUE);
  return asked.map(({ queue, processes }) => ({
    name: queue,
    processes,
    words: [
      "worker",
      "--queues",
      !hasOwn && delivering?.queue === queue ? `${queue},${DELIVER_QUEUE}` : queue,
      ...placeWords(flags),
      ...wordsOf(flagsFor(queue, flags)),
    ],
  }));
}

/** How many tasks a process has at once was chosen for fetching: a browser or a parser has its own measure. */
function flagsFor(queue: string, { concurrency, ...flags }: UpFlags): ProcessFlags {
  const isFetching = queue !== "render" && queue !== "parse";
  return isFetching && concurrency !== undefined ? { ...flags, concurrency } : flags;
}

function bad(message: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.up", message });
}
