/** Whoever wants to know which tasks a worker has in hand: the supervisor of its process. */
import type { Grant } from "../frontier/frontier.ts";

export type TaskWatch = {
  /** `isAlone`: a suspect (F6), with nothing beside it. */
  began(grant: Grant, isAlone: boolean): void;
  /** Its page is there, and goes to the spider's handler or the job's rules next, which may never let go. */
  reading(grant: Grant): void;
  /** Its result is known, though not yet written: from here on only broker and store can hold it up. */
  ended(grant: Grant): void;
  /** One of them is written and counted. */
  settled(): void;
};

export const UNWATCHED: TaskWatch = { began: () => {}, reading: () => {}, ended: () => {}, settled: () => {} };
