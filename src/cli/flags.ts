/** Parsers of flag values for commander. */
import { InvalidArgumentError } from "commander";
import { crawlOfQueue } from "../domain/crawl-queue.ts";
import { QUEUE_NAME } from "../domain/queue-name.ts";
import { TrawlError } from "../errors.ts";

/** Collects the values of a repeatable flag. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

/** Parses a whole number from `min` to `max`. The error names the flag and its range. */
export function wholeNumber(flag: string, min: number, max = Number.MAX_SAFE_INTEGER): (value: string) => number {
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  return (value) => {
    const number = Number(value);
    if (Number.isSafeInteger(number) && number >= min && number <= max && value.trim() !== "") return number;
    throw new InvalidArgumentError(`${flag} must be a whole number, ${range}.`);
  };
}

/** Parses a queue name. */
export function queueName(flag: string): (value: string) => string {
  return (value) => {
    if (QUEUE_NAME.test(value)) return value;
    throw new InvalidArgumentError(`${flag} may contain only letters, digits and _ . : - (at most 64 characters).`);
  };
}

/** Parses comma-separated queue names and removes duplicates. */
export function queueNames(flag: string): (value: string) => string[] {
  const one = queueName(flag);
  return (value) => [...new Set(value.split(",").map((name) => one(name.trim())))];
}

/**
 * Throws BAD_USAGE for the queue of a crawl. Only the process of the crawl may fetch from the private hosts that its
 * user named: in a worker, these tasks would fail.
 */
export function refuseCrawlQueues(queues: readonly string[]): void {
  for (const queue of queues) {
    const jobId = crawlOfQueue(queue);
    if (jobId === undefined) continue;
    throw new TrawlError("BAD_USAGE", {
      op: "cli.queues",
      message: `${queue} is the queue of a crawl, and workers do not run crawls; continue it with: trawl crawl --resume ${jobId}`,
      detail: { queue },
    });
  }
}

const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;

/** Parses a request id that is safe in a log line, a header and a shell. */
export function requestIdFlag(flag: string): (value: string) => string {
  return (value) => {
    if (REQUEST_ID.test(value)) return value;
    throw new InvalidArgumentError(
      `${flag} may contain only letters, digits and _ . : - (at most 128 characters, a letter or digit first).`,
    );
  };
}

/**
 * Converts a flag value to a duration for the settings. A plain number means seconds, as in similar flags of other
 * programs.
 */
export function secondsOrDuration(value: string): string {
  return /^\d+(?:\.\d+)?$/.test(value) ? `${value}s` : value;
}
