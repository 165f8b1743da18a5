/** Explains the scopes and quotas of keys. */
import type { KeyOut } from "../../../../src/client/wire-types.ts";
import type { KeyScope } from "../../session.ts";
import { plural } from "../../ui/format.ts";

export const SCOPE_TEXT: Readonly<Record<KeyScope, string>> = {
  read: "View jobs, records, pages, dead letters and schedules, and use Explain.",
  submit: "Submit, pause, cancel and delete jobs, replay and discard dead letters, create and edit schedules.",
  admin:
    "Everything, including what all tenants share: sites and their rates, queues, workers, keys. Only for keys without a tenant.",
};

export function quotaText({ pending, urlsPerSecond, jobs }: KeyOut["quotas"]): string {
  const quotas = [
    pending === null ? "" : `${plural(pending, "URL")} waiting`,
    urlsPerSecond === null ? "" : `${urlsPerSecond.toLocaleString("en")} URLs/s`,
    jobs === null ? "" : plural(jobs, "job"),
  ].filter((part) => part !== "");
  return quotas.length === 0 ? "none" : quotas.join(", ");
}
