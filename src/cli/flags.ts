/** Readers of flag values for commander. */
import { InvalidArgumentError } from "commander";

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
