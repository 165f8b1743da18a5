import type { WebhookInput } from "../submit/webhook-schema.ts";
import { noteWebhook } from "../webhook/note-webhook.ts";
import type { Session } from "./session.ts";

/** Notes whom a job is to tell. A secret that had to be made is said at once: nothing shows it later. */
export async function noteWebhookHere(
  { trawl, screen }: Session,
  webhook: WebhookInput | undefined,
  job: { jobId: string; queue?: string },
): Promise<void> {
  const secret = await noteWebhook(trawl.store.webhooks, webhook, { ...job, now: trawl.clock.now() });
  if (secret !== undefined) screen.err(`webhook secret, told this once: ${secret}\n`);
}
