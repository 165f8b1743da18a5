/**
 * Ctrl-C and SIGTERM: the first asks for a clean stop, the second ends the process at once. A reader of stdout that has
 * gone (`trawl crawl … | head`) asks for the same clean stop. The only home of `process.on`.
 */
import { ERRORS } from "../errors.ts";
import { showableLines } from "../runtime/showable.ts";

export type Stops = {
  /** Calls `stop` on the first signal. */
  once(stop: () => void): { forget(): void };
  /** Calls `kill` before a second signal ends the process: for what would outlive it. */
  atOnce(kill: () => void): { forget(): void };
  /** Does what the first signal does. */
  ask(): void;
  /** No signal ends this process at once any more: whoever has started it does, when that is to be. */
  neverAtOnce(): void;
  /** Whether a signal has come. */
  readonly isAsked: boolean;
};

export const INTERRUPTED = 130;

export function listenForStops(): Stops {
  const listeners = new Set<() => void>();
  const killers = new Set<() => void>();
  let isAsked = false;
  let isChild = false;
  function ask(): void {
    if (isAsked) return;
    isAsked = true;
    for (const listener of listeners) listener();
  }
  function onSignal(): void {
    if (!isChild && (isAsked || listeners.size === 0)) exitNow();
    ask();
  }
  /** Nothing is lost by ending now: leases expire or are found abandoned, and what was written is written. */
  function exitNow(): never {
    for (const kill of killers) kill();
    process.exit(INTERRUPTED);
  }
  function onBrokenOutput({ code, message }: NodeJS.ErrnoException): void {
    if (code !== "EPIPE") {
      process.stderr.write(`trawl: BAD_OUTPUT: stdout: ${message}; what was fetched is kept: trawl records JOB\n`);
      process.exit(ERRORS.BAD_OUTPUT.exit);
    }
    // Whoever reads what is kept and stops reading has had enough: that is no failure.
    if (listeners.size === 0 && !isAsked) process.exit(0);
    ask();
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
    atOnce(kill) {
      killers.add(kill);
      return { forget: () => void killers.delete(kill) };
    },
    ask,
    neverAtOnce() {
      isChild = true;
    },
    get isAsked() {
      return isAsked;
    },
  };
}
