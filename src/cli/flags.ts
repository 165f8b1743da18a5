/** Readers of flag values for commander. */
import { InvalidArgumentError } from "commander";

/** Gathers a repeatable flag. */
export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

/** A whole number of at least `least`; anything else is named together with what the flag takes. */
export function wholeNumber(flag: string, least: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (Number.isSafeInteger(number) && number >= least && value.trim() !== "") return number;
    throw new InvalidArgumentError(`${flag} takes a whole number, ${least} or more.`);
  };
}
