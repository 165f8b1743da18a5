/** Exits some time after Ctrl-C, even if the broker does not respond to the running call. */
import { clearTimeout, setTimeout } from "node:timers";
import { INTERRUPTED } from "../shutdown.ts";

export type ForcedExit = {
  /** Sets the function that prints the last message. A later call replaces it. */
  setMessage(print: () => Promise<void>): void;
  /** Starts the timer. When it fires, the message is printed and the process exits. */
  start(): void;
  /** Stops the timer. */
  cancel(): void;
};

/** This is long enough for a slow broker. After this time, most users would press Ctrl-C again. */
const DELAY_MS = 2_000;

export function createForcedExit(): ForcedExit {
  let printMessage = async () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    setMessage(print) {
      printMessage = print;
    },
    start() {
      // Exiting is safe: confirmed URLs are stored, and the list can be submitted again.
      timer ??= setTimeout(() => void printMessage().finally(() => process.exit(INTERRUPTED)), DELAY_MS);
    },
    cancel: () => clearTimeout(timer),
  };
}
