/**
 * Ctrl-C and SIGTERM: the first asks for a clean stop, the second ends the process at once. A reader of stdout that has
 * gone (`trawl crawl … | head`) asks for the same clean stop. The only home of `process.on`.
 */
import { ERRORS } from "../errors.ts";
import { showableLines } from "../runtime/showable.ts";

export type Stops = {
  /** Calls `stop` on the first signal. */
  once(stop: () => void): { forget(): void };
  /** Whether a signal has come. */
  readonly isAsked: boolean;
};

export const INTERRUPTED = 130;

export function listenForStops(): Stops {
  const listeners = new Set<() => void>();
  let isAsked = false;
  function ask(): void {
    isAsked = true;
    for (const listener of listeners) listener();
  }
  function onSignal(): void {
    // Nothing is lost by ending now: leases expire or are found abandoned, and what was written is written.
    if (isAsked || listeners.size === 0) process.exit(INTERRUPTED);
    ask();
  }
  function onBrokenOutput({ code, message }: NodeJS.ErrnoException): void {
    if (code !== "EPIPE") {
      process.stderr.write(`trawl: BAD_OUTPUT: stdout: ${message}; what was fetched is kept: trawl records JOB\n`);
      process.exit(ERRORS.BAD_OUTPUT.exit);
    }
    // Whoever reads what is kept and stops reading has had enough: that is no failure.
    if (listeners.size === 0 && !isAsked) process.exit(0);
    if (!isAsked) ask();
  }
  /** A spider's promise that nobody awaits must not take the crawl of other pages down. */
  function onUnheard(reason: unknown): void {
    const words = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    process.stderr.write(
      `trawl: a promise was rejected that nobody awaits; await it in the handler: ${showableLines(words)}\n`,
    );
  }
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("unhandledRejection", onUnheard);
  process.stdout.on("error", onBrokenOutput);
  process.stderr.on("error", () => {}); // nobody is left to tell
  return {
    once(stop) {
      listeners.add(stop);
      return { forget: () => void listeners.delete(stop) };
    },
    get isAsked() {
      return isAsked;
    },
  };
}
