/** The flags of worker processes, shared by `trawl worker` and `trawl up`. */
import type { Command } from "commander";
import { secondsOrDuration, wholeNumber } from "../flags.ts";
import { exitArgs, exitSettings, type ProxyFlags, withProxyFlag } from "../proxy-flags.ts";

export type ProcessFlags = Partial<ProxyFlags> & {
  concurrency?: number;
  maxTasksPerChild?: number;
  maxMemoryPerChild?: number;
  timeLimit?: string;
  softTimeLimit?: string;
  userAgent?: string;
  metricsPort?: number;
};

export function withProcessFlags(command: Command): Command {
  return withProxyFlag(command)
    .option("--region <name>", "use only proxies of this region, and those without a region (default any)")
    .option("-c, --concurrency <n>", "maximum concurrent tasks per process (default 100)", concurrency)
    .option(
      "--max-tasks-per-child <n>",
      "replace a process after this many tasks",
      wholeNumber("--max-tasks-per-child", 1),
    )
    .option(
      "--max-memory-per-child <MB>",
      "replace a process that uses more memory than this, in MB; at least 128",
      wholeNumber("--max-memory-per-child", 128),
    )
    .option(
      "--time-limit <time>",
      "abort a task after this time (a number of seconds, or a duration such as 2m); if its handler blocks the process, kill the process",
      secondsOrDuration,
    )
    .option(
      "--soft-time-limit <time>",
      "abort a task after this time (a number of seconds, or a duration such as 2m), but never kill the process",
      secondsOrDuration,
    )
    .option(
      "--metrics-port <n>",
      "port for Prometheus metrics of all worker processes; 0: any free port (default none)",
      wholeNumber("--metrics-port", 0),
    )
    .option("--user-agent <text>", "the User-Agent header; include a way to contact you");
}

const concurrency = wholeNumber("--concurrency", 1);

/** The flags as settings. A flag that is not given is undefined and comes from the environment or the config file. */
export function processSettings(flags: ProcessFlags): Record<string, unknown> {
  return {
    concurrency: flags.concurrency,
    userAgent: flags.userAgent,
    metricsPort: flags.metricsPort,
    maxTasksPerChild: flags.maxTasksPerChild,
    maxMemoryPerChildMb: flags.maxMemoryPerChild,
    timeLimitMs: flags.timeLimit,
    softTimeLimitMs: flags.softTimeLimit,
    ...exitSettings(flags),
  };
}

/** The flags as arguments of a child process. */
export function processArgs(flags: ProcessFlags): string[] {
  const given: [string, string | number | undefined][] = [
    ["--concurrency", flags.concurrency],
    ["--user-agent", flags.userAgent],
    ["--metrics-port", flags.metricsPort],
    ["--max-tasks-per-child", flags.maxTasksPerChild],
    ["--max-memory-per-child", flags.maxMemoryPerChild],
    ["--time-limit", flags.timeLimit],
    ["--soft-time-limit", flags.softTimeLimit],
  ];
  return [...given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)])), ...exitArgs(flags)];
}
