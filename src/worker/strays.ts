/**
 * Errors of a spider's handler that nobody can catch, since they are thrown in a timer, an event or another callback. What
 * a handler starts is followed to the page it was started for: that page has failed, and the process can go on.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export type Strays = {
  /** Runs a handler; rejects also with what it throws astray, unless it has ended, and then aborts its signal. */
  follow<T>(url: string, outer: AbortSignal, handle: (signal: AbortSignal) => T | Promise<T>): Promise<T>;
  /** The page that the code belongs to which runs now; undefined if that is not a handler's. */
  findCulprit(): Culprit | undefined;
};

/** `fail`: it has failed with this, unless it has ended. */
export type Culprit = { url: string; fail(error: unknown): void };

export function createStrays(): Strays {
  const context = new AsyncLocalStorage<Culprit>();
  return {
    follow: (url, outer, handle) =>
      new Promise((resolve, reject) => {
        const failed = new AbortController();
        function fail(error: unknown): void {
          reject(error);
          failed.abort(error);
        }
        context.run({ url, fail }, async () => {
          try {
            resolve(await handle(AbortSignal.any([outer, failed.signal])));
          } catch (error) {
            reject(error);
          }
        });
      }),
    findCulprit: () => context.getStore(),
  };
}
