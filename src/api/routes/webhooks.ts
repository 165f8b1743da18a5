/** Whom a job tells how it goes, and how far that is. */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import { findWebhookView } from "../../webhook/webhook-view.ts";
import { type ApiDeps, findOwnJob } from "../api-deps.ts";
import { defineRoute, type Route } from "../route.ts";
import { webhookOut, webhookSchemaOut } from "../wire-webhooks.ts";

export function webhookRoutes(deps: ApiDeps): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs/:id/webhook",
      scope: "read",
      tag: "Jobs",
      summary: "How a job's webhook stands",
      says: "What was delivered, what waits and what was given up on. The secret is told once, by the answer to the submission.",
      params: z.strictObject({ id: z.string().min(1).max(100) }),
      answers: { 200: { says: "The webhook.", json: webhookSchemaOut } },
      async handle({ params, caller }) {
        const { id } = await findOwnJob(deps, caller, params.id);
        const view = await findWebhookView({ book: deps.store.webhooks, frontier: deps.frontier }, id);
        if (view === undefined) throw hasNone(id);
        return { status: 200, body: webhookOut(view) };
      },
    }),
  ];
}

function hasNone(id: string): TrawlError {
  return new TrawlError("NOT_FOUND", {
    op: "api.webhook",
    message: `job ${id} has no webhook; name one when it is submitted: "webhook": {"url": …}`,
    detail: { id },
  });
}
