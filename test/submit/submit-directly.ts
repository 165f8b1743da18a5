/** Submits a list to a frontier, without quotas and webhooks. */
import type { JobSpec } from "../../src/domain/job-spec.ts";
import { openNoRequestBodies } from "../../src/store/bodies/no-bodies.ts";
import { type Repeats, type SubmitDeps, submitList } from "../../src/submit/broker-intake.ts";
import type { SubmitAnswer } from "../../src/submit/submit-urls.ts";

export type DirectDeps = Pick<SubmitDeps, "frontier" | "now">;

export function directDeps({ frontier, now }: DirectDeps): SubmitDeps {
  return {
    frontier,
    now,
    requestBodies: openNoRequestBodies({ bodies: "none", requestBodyBytes: 65_536 }),
    admit: async () => {},
    addWebhook: async () => undefined,
    async lookUp(id) {
      const job = await frontier.findJob(id);
      return job === undefined ? undefined : { ...job, archived: false };
    },
  };
}

export function submitDirectly(
  deps: DirectDeps,
  spec: JobSpec,
  urls: readonly string[],
  repeats: Repeats = "never",
): Promise<SubmitAnswer> {
  return submitList(directDeps(deps), spec, urls, repeats);
}
