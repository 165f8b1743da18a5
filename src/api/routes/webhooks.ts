/** The state of a job's webhook. */
import { z } from "zod";
import { webhookOut } from "../../control/views/webhook.ts";
import { TrawlError } from "../../errors.ts";
import { findWebhookView } from "../../webhook/webhook-view.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { webhookSchemaOut } from "../wire/webhooks.ts";

export function webhookRoutes(deps: ApiDeps): ApiRoute[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/webhook",
      scope: "read",
      tag: "Jobs",
      summary: "Get the state of a job's webhook",
      description:
        "Counts of delivered, waiting and failed events. The secret is returned only in the response to the submission.",
      params: z.strictObject({ id: z.string().min(1).max(100) }),
      responses: { 200: { description: "The webhook.", json: webhookSchemaOut } },
      async handle({ params, caller }) {
        const { id } = await findOwnJob(deps, caller, params.id);
        const view = await findWebhookView({ webhooks: deps.store.webhooks, frontier: deps.frontier }, id);
        if (view === undefined) throw webhookNotFound(id);
        return { status: 200, body: webhookOut(view) };
      },
    }),
  ];
}

function webhookNotFound(id: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op: "api.webhook",
    message: `job ${id} has no webhook; set it in the submission of the job: "webhook": {"url": …}`,
    detail: { id },
  });
}
