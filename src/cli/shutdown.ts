/**
 * Handles Ctrl-C, SIGTERM and SIGHUP: the first signal requests a clean stop, the second exits at once. A closed stdout
 * (`trawl crawl … | head`) also requests a clean stop. Uncaught errors and `process.exit()` calls of a spider are
 * reported with the page whose handler caused them.
 */
import { ERRORS } from "../errors.ts";
import { showableLines } from "../runtime/showable.ts";
import type { HandlerPage } from "../worker/task/handler-errors.ts";
import { ownCommand } from "./terminal.ts";

/** `output` means that the reader of stdout has closed it. */
type StopCause = "signal" | "output" | "request";

export type Shutdown = {
  /** Calls `stop` on the first signal, when stdout is closed, or after `request`. */
  onStop(stop: (cause: StopCause) => void): { remove(): void };
  /** Calls `kill` before a second signal ends the process, to end child processes. */
  onKill(kill: () => void): { remove(): void };
  /**
   * After an uncaught error, calls `find` to get the page whose handler is running. Calls `ended` if the handler has
   * ended this process.
   */
  onHandlerError(find: () => HandlerPage | undefined, ended?: () => void): { remove(): void };
  /**
   * Makes a signal before the first `onStop` exit with 0 instead of 130. `trawl serve`, `worker` and `up` use it,
   * because they have no result.
   */
  exitZeroWhileStarting(): void;
  /** Requests a clean stop, like the first signal. */
  request(): void;
  /**
   * After this call, signals do not end this process at once. Child processes use it, because their supervisor kills
   * them.
   */
  ignoreSecondSignal(): void;
  /** True after a signal or `request`. */
  readonly isRequested: boolean;
};

export const INTERRUPTED = 130;

export function listenForShutdown(): Shutdown {
  const listeners = new Set<(cause: StopCause) => void>();
  const killers = new Set<() => void>();
  const finders = new Map<() => HandlerPage | undefined, () => void>();
  let isRequested = false;
  let isChild = false;
  let earlyCode = INTERRUPTED;
  function stop(cause: StopCause): void {
    if (isRequested) return;
    isRequested = true;
    for (const listener of listeners) listener(cause);
  }
  function onSignal(): void {
    if (!isChild && isRequested) exitNow(INTERRUPTED);
    if (!isChild && listeners.size === 0) exitNow(earlyCode);
    stop("signal");
  }
  /** Kills child processes and exits. This loses nothing: leases expire, and completed writes are durable. */
  function exitNow(code: number): never {
    for (const kill of killers) kill();
    process.exit(code);
  }
  function onBrokenOutput({ code, message }: NodeJS.ErrnoException): void {
    if (code !== "EPIPE") {
      process.stderr.write(
        `trawl: BAD_OUTPUT: stdout: ${message}; the records are stored; read them with: ${ownCommand()} records JOB\n`,
      );
      process.exit(ERRORS.BAD_OUTPUT.exit);
    }
    // A command that only prints stored results ends normally when its reader closes the pipe.
    if (listeners.size === 0 && !isRequested) process.exit(0);
    stop("output");
  }
  function currentHandlerPage(): HandlerPage | undefined {
    for (const find of finders.keys()) {
      const page = find();
      if (page !== undefined) return page;
    }
    return undefined;
  }
  /** A rejected promise that a handler does not await fails the page of that handler, not the crawl. */
  function onUnhandledRejection(reason: unknown): void {
    const page = currentHandlerPage();
    if (page !== undefined && !page.fail(reason)) return; // already reported
    const origin = page === undefined ? "a promise" : `a promise in the handler of ${page.url}`;
    printError(`${origin} was rejected and not awaited; await every promise in the handler: ${errorText(reason)}`);
  }
  /**
   * An error that a handler throws in a callback also fails only its page. After any other uncaught error the state of
   * the process is unknown, so it exits.
   */
  function onUncaught(error: unknown): void {
    const page = currentHandlerPage();
    if (page !== undefined) {
      if (page.fail(error))
        printError(`the handler of ${page.url} threw an uncaught error in a callback: ${errorText(error)}`);
      return;
    }
    printError(`INTERNAL: uncaught error; this is a bug in Trawl, or in a callback of a spider: ${errorText(error)}`);
    process.exit(ERRORS.INTERNAL.exit);
  }
  /** If a handler calls `process.exit()`, the process exits with an error code, even for `process.exit(0)`. */
  function onExit(code: number): void {
    const page = currentHandlerPage();
    if (page === undefined) return;
    printError(`the handler of ${page.url} ended this process with process.exit(${code}); throw an error instead`);
    for (const ended of finders.values()) ended();
    if (!isChild) process.exitCode = ERRORS.INTERNAL.exit;
  }
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", onSignal); // the terminal was closed
  process.on("unhandledRejection", onUnhandledRejection);
  process.on("uncaughtException", onUncaught);
  process.on("exit", onExit);
  process.stdout.on("error", onBrokenOutput);
  process.stderr.on("error", () => {}); // there is no other place to report it
  return {
    onStop(listener) {
      listeners.add(listener);
      return { remove: () => void listeners.delete(listener) };
    },
    onKill(kill) {
      killers.add(kill);
      return { remove: () => void killers.delete(kill) };
    },
    exitZeroWhileStarting() {
      earlyCode = 0;
    },
    onHandlerError(find, ended = () => {}) {
      finders.set(find, ended);
      return { remove: () => void finders.delete(find) };
    },
    request: () => stop("request"),
    ignoreSecondSignal() {
      isChild = true;
    },
    get isRequested() {
      return isRequested;
    },
  };
}

function errorText(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

function printError(message: string): void {
  process.stderr.write(`trawl: ${showableLines(message)}\n`);
}
