/**
 * Catches errors of a spider's handler that no `try` in the worker can catch: thrown in a timer, an event listener or
 * another callback, or rejected in a promise that no code awaits. AsyncLocalStorage links such code to the page whose
 * handler started it: that page fails, and the process continues.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Grant } from "../../frontier/frontier.ts";
import type { Log } from "../../runtime/log.ts";

export type HandlerErrors = {
  /**
   * Runs a handler. If code that the handler started fails before the handler has ended, the promise rejects with that
   * error and the signal of the handler aborts.
   */
  follow<T>(page: FollowedPage, outer: AbortSignal, handle: (signal: AbortSignal) => T | Promise<T>): Promise<T>;
  /** The page whose handler started the code that runs now; undefined if no handler did. */
  currentHandlerPage(): HandlerPage | undefined;
};

export type FollowedPage = Pick<Grant, "jobId" | "taskId" | "url">;

/**
 * `fail` fails the page with an error. If the handler has already ended, `fail` only logs the error and returns false.
 */
export type HandlerPage = { url: string; fail(error: unknown): boolean };

const TOO_LATE =
  "the handler had already ended when this error occurred, in a promise that is not awaited or in a callback";

export function createHandlerErrors({ log }: { log: Pick<Log, "warn"> }): HandlerErrors {
  const context = new AsyncLocalStorage<HandlerPage>();
  return {
    follow: ({ jobId, taskId, url }, outer, handle) =>
      new Promise((resolve, reject) => {
        const failed = new AbortController();
        let isOver = false;
        function fail(error: unknown): boolean {
          if (isOver) {
            log.warn("worker.late_handler_error", { jobId, taskId, url, reason: TOO_LATE, cause: error });
            return false;
          }
          isOver = true;
          reject(error);
          failed.abort(error);
          return true;
        }
        context.run({ url, fail }, async () => {
          try {
            resolve(await handle(AbortSignal.any([outer, failed.signal])));
          } catch (error) {
            reject(error);
          } finally {
            isOver = true;
          }
        });
      }),
    currentHandlerPage: () => context.getStore(),
  };
}
