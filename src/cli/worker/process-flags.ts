/** Flags about the processes that work, which `trawl worker` and `trawl up` share: declared, read, and passed on. */
import type { Command } from "commander";
import { secondsOrDuration, wholeNumber } from "../flags.ts";

export type ProcessFlags = {
  concurrency?: number;
  maxTasksPerChild?: number;
  maxMemoryPerChild?: number;
  timeLimit?: string;
  softTimeLimit?: string;
  userAgent?: string;
  metricsPort?: number;
};

export function withProcessFlags(command: Command): Command {
  return command
    .option("-c, --concurrency <n>", "tasks that each process has under way at once (default 32)", concurrency)
    .option("--max-tasks-per-child <n>", "replace a process after n tasks", wholeNumber("--max-tasks-per-child", 1))
    .option("--max-memory-per-child <MB>", "replace one that is larger", wholeNumber("--max-memory-per-child", 128))
    .option("--time-limit <time>", "kill one stuck in a task (seconds, or 2m)", secondsOrDuration)
    .option("--soft-time-limit <time>", "end tasks that take longer (seconds, or 2m)", secondsOrDuration)
    .option(
      "--metrics-port <n>",
      "tell Prometheus of all processes there; 0: any port",
      wholeNumber("--metrics-port", 0),
    )
    .option("--user-agent <text>", "how to introduce ourselves; name a way to reach you");
}

const concurrency = wholeNumber("--concurrency", 1);

/** As settings: what was not given is undefined, and comes from elsewhere. */
export function settingsOf(flags: ProcessFlags): Record<string, unknown> {
  return {
    concurrency: flags.concurrency,
    userAgent: flags.userAgent,
    metricsPort: flags.metricsPort,
    maxTasksPerChild: flags.maxTasksPerChild,
    maxMemoryPerChildMb: flags.maxMemoryPerChild,
    timeLimitMs: flags.timeLimit,
    softTimeLimitMs: flags.softTimeLimit,
  };
}

/** As the words that a process is started with. */
export function wordsOf(flags: ProcessFlags): string[] {
  const given: [string, string | number | undefined][] = [
    ["--concurrency", flags.concurrency],
    ["--user-agent", flags.userAgent],
    ["--metrics-port", flags.metricsPort],
    ["--max-tasks-per-child", flags.maxTasksPerChild],
    ["--max-memory-per-child", flags.maxMemoryPerChild],
    ["--time-limit", flags.timeLimit],
    ["--soft-time-limit", flags.softTimeLimit],
  ];
  return given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
}
