/** The IPC channel from a child process to its supervisor. */
import type { ChildMessage, SupervisorMessage } from "../../worker/pool/messages.ts";
import type { Shutdown } from "../shutdown.ts";

export type SupervisorLink = {
  /** Sends a message. Does nothing if the supervisor has exited. */
  send(message: ChildMessage): void;
  /**
   * Calls `retire` when the supervisor requests that the worker retires; immediately if it has already requested it.
   */
  onRetire(retire: () => void): void;
  /** Sends the last message and resolves when it is written. The process must not exit before that. */
  close(last: ChildMessage | undefined): Promise<void>;
};

/** Connects this process to its supervisor. A stop message, or the exit of the supervisor, requests a clean stop. */
export function linkToSupervisor(shutdown: Shutdown): SupervisorLink {
  // Ctrl-C reaches every process of the terminal. In a child it must not count as a second signal after "stop".
  shutdown.ignoreSecondSignal();
  const retiring = new AbortController();
  process.on("message", ({ kind }: SupervisorMessage) => (kind === "stop" ? shutdown.request() : retiring.abort()));
  process.on("disconnect", () => shutdown.request());
  if (!process.connected) shutdown.request();
  const post = (message: ChildMessage, sent: () => void) =>
    process.connected ? void process.send?.(message, undefined, undefined, sent) : sent();
  return {
    send: (message) => post(message, () => {}),
    onRetire(retire) {
      if (retiring.signal.aborted) retire();
      else retiring.signal.addEventListener("abort", retire, { once: true });
    },
    async close(last) {
      if (last !== undefined) await new Promise<void>((resolve) => post(last, resolve));
      if (process.connected) process.disconnect();
    },
  };
}
