/** The state of a job's webhook. */
import { z } from "zod";
import { webhookOut } from "../../control/views/webhook.ts";
import { TrawlError } from "../../errors.ts";
import { findWebhookView } from "../../webhook/webhook-view.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { defineRoute, type Route } from "../route.ts";
import { webhookSchemaOut } from "../wire/webhooks.ts";

export function webhookRoutes(deps: ApiDeps): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/webhook",
      scope: "read",
      tag: "Jobs",
      summary: "Get the state of a job's webhook",
      says: "Delivered, waiting and failed events. The secret is only in the response to the submission.",
      params: z.strictObject({ id: z.string().min(1).max(100) }),
      answers: { 200: { says: "The webhook.", json: webhookSchemaOut } },
      async handle({ params, caller }) {
        const { id } = await findOwnJob(deps, caller, params.id);
        const view = await findWebhookView({ webhooks: deps.store.webhooks, frontier: deps.frontier }, id);
        if (view === undefined) throw hasNone(id);
        return { status: 200, body: webhookOut(view) };
      },
    }),
  ];
}

function hasNone(id: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op: "api.webhook",
    message: `job ${id} has no webhook; a webhook is part of the submission: "webhook": {"url": …}`,
    detail: { id },
  });
}
