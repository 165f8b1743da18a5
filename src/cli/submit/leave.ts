/** Ends a submission for somebody who has asked for that, even where a broker that does not answer holds everything up. */
import { clearTimeout, setTimeout } from "node:timers";
import { INTERRUPTED } from "../stops.ts";

export type Leave = {
  /** What is said last, should it come to that: the newest word counts. */
  willSay(words: () => Promise<void>): void;
  /** A stop was asked for: it has to be over soon. */
  ask(): void;
  /** It is over. */
  forget(): void;
};

/** A broker that is only slow has answered by then; somebody at a terminal would press Ctrl-C again. */
const LEAVE_MS = 2_000;

export function createLeave(): Leave {
  let say = async () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    willSay(words) {
      say = words;
    },
    ask() {
      // Ending now loses nothing: what was answered is kept, and giving the list again is harmless.
      timer ??= setTimeout(() => void say().finally(() => process.exit(INTERRUPTED)), LEAVE_MS);
    },
    forget: () => clearTimeout(timer),
  };
}
