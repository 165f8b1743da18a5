/** What keys are good for, in words. */
import type { KeyOut } from "../../../../src/api/wire-keys.ts";
import { plural } from "../../ui/format.ts";

export type KeyScope = KeyOut["scopes"][number];

export const SCOPE_WORDS: Readonly<Record<KeyScope, string>> = {
  read: "Look at jobs, records, pages, dead letters and schedules, and ask why something waits.",
  submit: "Submit, pause, cancel and delete jobs, replay and discard dead letters, make and change schedules.",
  admin:
    "All of that, and what everybody shares: sites and their rates, queues, workers, keys. Takes a key without a tenant.",
};

export function quotaWords({ pending, urlsPerSecond, jobs }: KeyOut["quotas"]): string {
  const words = [
    pending === null ? "" : `${plural(pending, "URL")} waiting`,
    urlsPerSecond === null
      ? ""
      : `${urlsPerSecond.toLocaleString("en")} ${urlsPerSecond === 1 ? "URL" : "URLs"} a second`,
    jobs === null ? "" : plural(jobs, "job"),
  ].filter((part) => part !== "");
  return words.length === 0 ? "none" : words.join(", ");
}
