/** The channel from a worker process to the supervisor that started it. */
import type { ChildMessage, SupervisorMessage } from "../../worker/pool/messages.ts";
import type { Stops } from "../stops.ts";

export type SupervisorLink = {
  /** To a supervisor that is gone, nothing. */
  send(message: ChildMessage): void;
  /** Calls it when the supervisor says so, at once if it has: no more tasks are to be taken. */
  onRetire(retire: () => void): void;
  /** Says the last word, and resolves when it is out. Only then may the process end. */
  close(last: ChildMessage | undefined): Promise<void>;
};

/** A supervisor that says stop, or that is gone, asks for a clean stop. */
export function linkToSupervisor(stops: Stops): SupervisorLink {
  // A Ctrl-C reaches every process of the terminal: that is one request to stop, and not a second one.
  stops.neverAtOnce();
  const retiring = new AbortController();
  process.on("message", ({ kind }: SupervisorMessage) => (kind === "stop" ? stops.ask() : retiring.abort()));
  process.on("disconnect", () => stops.ask());
  if (!process.connected) stops.ask();
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
