/**
 * Ctrl-C, SIGTERM and SIGHUP: the first asks for a clean stop, the second ends the process at once. A reader of stdout
 * that has gone (`trawl crawl … | head`) asks for the same clean stop. What a spider throws where nobody catches it, and
 * its `process.exit()`, are told with the page they came from. The only home of `process.on`.
 */
import { ERRORS } from "../errors.ts";
import { showableLines } from "../runtime/showable.ts";
import type { Culprit } from "../worker/strays.ts";

export type Stops = {
  /** Calls `stop` on the first signal. */
  once(stop: () => void): { forget(): void };
  /** Calls `kill` before a second signal ends the process: for what would outlive it. */
  atOnce(kill: () => void): { forget(): void };
  /**
   * Asks `find` to whose page the code belongs that runs now, when that has thrown something nobody caught. Calls `ended`
   * when it has ended this process.
   */
  onStray(find: () => Culprit | undefined, ended?: () => void): { forget(): void };
  /** A signal before anybody listens ends this process with 0 and not as interrupted: it serves others, and nothing has begun. */
  mayEndEarly(): void;
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
  const finders = new Map<() => Culprit | undefined, () => void>();
  let isAsked = false;
  let isChild = false;
  let earlyCode = INTERRUPTED;
  function ask(): void {
    if (isAsked) return;
    isAsked = true;
    for (const listener of listeners) listener();
  }
  function onSignal(): void {
    if (!isChild && isAsked) exitNow(INTERRUPTED);
    if (!isChild && listeners.size === 0) exitNow(earlyCode);
    ask();
  }
  /** Nothing is lost by ending now: leases expire or are found abandoned, and what was written is written. */
  function exitNow(code: number): never {
    for (const kill of killers) kill();
    process.exit(code);
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
  function findCulprit(): Culprit | undefined {
    for (const find of finders.keys()) {
      const culprit = find();
      if (culprit !== undefined) return culprit;
    }
    return undefined;
  }
  /** A spider's promise that nobody awaits must not take the crawl of other pages down: its own page has failed. */
  function onUnheard(reason: unknown): void {
    const culprit = findCulprit();
    if (culprit !== undefined && !culprit.fail(reason)) return; // it has told of it
    const whose = culprit === undefined ? "a promise was rejected" : `the handler of ${culprit.url} has a promise`;
    complain(`${whose} that nobody awaits; await it in the handler: ${inWords(reason)}`);
  }
  /** Nor must what it throws in a timer. Of anything else nobody knows what is still right. */
  function onUncaught(error: unknown): void {
    const culprit = findCulprit();
    if (culprit !== undefined) {
      if (culprit.fail(error))
        complain(`the handler of ${culprit.url} threw in a callback, where nobody can catch it: ${inWords(error)}`);
      return;
    }
    complain(`INTERNAL: nobody caught this; it is a bug of Trawl, or of a spider's callback: ${inWords(error)}`);
    process.exit(ERRORS.INTERNAL.exit);
  }
  /** Whatever code it has chosen: this is no end of ours. */
  function onExit(code: number): void {
    const culprit = findCulprit();
    if (culprit === undefined) return;
    complain(`the handler of ${culprit.url} has ended this process with process.exit(${code}); throw an error instead`);
    for (const ended of finders.values()) ended();
    if (!isChild) process.exitCode = ERRORS.INTERNAL.exit;
  }
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onSignal); // the terminal is gone
  process.on("unhandledRejection", onUnheard);
  process.on("uncaughtException", onUncaught);
  process.on("exit", onExit);
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
    mayEndEarly() {
      earlyCode = 0;
    },
    onStray(find, ended = () => {}) {
      finders.set(find, ended);
      return { forget: () => void finders.delete(find) };
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

function inWords(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

function complain(words: string): void {
  process.stderr.write(`trawl: ${showableLines(words)}\n`);
}
