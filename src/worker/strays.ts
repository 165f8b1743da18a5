/**
 * Errors of a spider's handler that nobody can catch, since they are thrown in a timer, an event or another callback, or
 * are those of a promise that nobody awaits. What a handler starts is followed to the page it was started for: that page
 * has failed, and the process can go on.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Grant } from "../frontier/frontier.ts";
import type { Log } from "../runtime/log.ts";

export type Strays = {
  /** Runs a handler; rejects also with what it throws astray, unless it has ended, and then aborts its signal. */
  follow<T>(page: StrayPage, outer: AbortSignal, handle: (signal: AbortSignal) => T | Promise<T>): Promise<T>;
  /** The page that the code belongs to which runs now; undefined if that is not a handler's. */
  findCulprit(): Culprit | undefined;
};

export type StrayPage = Pick<Grant, "jobId" | "taskId" | "url">;

/** `fail`: it has failed with this. False if it had ended before: then that is all that is known, and is logged. */
export type Culprit = { url: string; fail(error: unknown): boolean };

const TOO_LATE = "the handler had ended when this went wrong, in a promise that nobody awaits or in a callback";

export function createStrays({ log }: { log: Pick<Log, "warn"> }): Strays {
  const context = new AsyncLocalStorage<Culprit>();
  return {
    follow: ({ jobId, taskId, url }, outer, handle) =>
      new Promise((resolve, reject) => {
        const failed = new AbortController();
        let isOver = false;
        function fail(error: unknown): boolean {
          if (isOver) {
            log.warn("worker.stray_error", { jobId, taskId, url, says: TOO_LATE, cause: error });
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
    findCulprit: () => context.getStore(),
  };
}
