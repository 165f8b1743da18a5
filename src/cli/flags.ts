/** Readers of flag values for commander. */

import { InvalidArgumentError } from "commander";
import { QUEUE_NAME } from "../domain/queue-name.ts";

/** Gathers a repeatable flag. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

/** A whole number from `least` to `most`; anything else is named together with what the flag takes. */
export function wholeNumber(flag: string, least: number, most = Number.MAX_SAFE_INTEGER): (value: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
  return (value) => {
    const number = Number(value);
    if (Number.isSafeInteger(number) && number >= least && number <= most && value.trim() !== "") return number;
    throw new InvalidArgumentError(`${flag} takes a whole number, ${range}.`);
  };
}

/** The name of a queue, as jobs may have it. */
export function queueName(flag: string): (value: string) => string {
  return (value) => {
    if (QUEUE_NAME.test(value)) return value;
    throw new InvalidArgumentError(`${flag} takes letters, digits, _ . : - (64 at most).`);
  };
}

/** Names of queues with commas between, each once. */
export function queueNames(flag: string): (value: string) => string[] {
  const one = queueName(flag);
  return (value) => [...new Set(value.split(",").map((name) => one(name.trim())))];
}

const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/;

/** An id of the caller's own, fit for a log line, a header and a shell. */
export function requestIdWord(flag: string): (value: string) => string {
  return (value) => {
    if (REQUEST_ID.test(value)) return value;
    throw new InvalidArgumentError(`${flag} takes letters, digits, _ . : - (128 at most), a letter or digit first.`);
  };
}

/** A time as settings take it; a bare number is seconds here, as in other programs that have such a flag. */
export function secondsOrDuration(value: string): string {
  return /^\d+(?:\.\d+)?$/.test(value) ? `${value}s` : value;
}
