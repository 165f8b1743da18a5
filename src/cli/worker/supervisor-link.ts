/** The channel from a worker process to the supervisor that started it. */
import type { ChildMessage, SupervisorMessage } from "../../worker/pool/messages.ts";
import type { Stops } from "../stops.ts";

export type SupervisorLink = {
  /** To a supervisor that is gone, nothing. */
  send(message: ChildMessage): void;
  /** Says the last word, and resolves when it is out. Only then may the process end. */
  close(last: ChildMessage | undefined): Promise<void>;
};

/** A supervisor that says stop, or that is gone, asks for a clean stop. */
export function linkToSupervisor(stops: Stops): SupervisorLink {
  // A Ctrl-C reaches every process of the terminal: that is one request to stop, and not a second one.
  stops.neverAtOnce();
  process.on("message", ({ kind }: SupervisorMessage) => kind === "stop" && stops.ask());
  process.on("disconnect", () => stops.ask());
  if (!process.connected) stops.ask();
  const post = (message: ChildMessage, sent: () => void) =>
    process.connected ? void process.send?.(message, undefined, undefined, sent) : sent();
  return {
    send: (message) => post(message, () => {}),
    async close(last) {
      if (last !== undefined) await new Promise<void>((resolve) => post(last, resolve));
      if (process.connected) process.disconnect();
    },
  };
}
