/** Ends a submission after Ctrl-C, even if the broker does not respond. */
import { clearTimeout, setTimeout } from "node:timers";
import { INTERRUPTED } from "../shutdown.ts";

export type Leave = {
  /** Sets the last message. The latest one is printed. */
  willSay(words: () => Promise<void>): void;
  /** Starts the timer. */
  ask(): void;
  /** Stops the timer. */
  forget(): void;
};

/** Long enough for a slow broker. A user would press Ctrl-C again after this time. */
const LEAVE_MS = 2_000;

export function createLeave(): Leave {
  let say = async () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    willSay(words) {
      say = words;
    },
    ask() {
      // Exiting is safe: confirmed URLs are stored, and the list can be submitted again.
      timer ??= setTimeout(() => void say().finally(() => process.exit(INTERRUPTED)), LEAVE_MS);
    },
    forget: () => clearTimeout(timer),
  };
}
