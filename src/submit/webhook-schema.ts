/** The webhook of a job, as users write it. */
import { z } from "zod";
import { canonicalUrl } from "../domain/canonical-url.ts";
import { WEBHOOK_EVENTS } from "../domain/webhook.ts";

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const SECRET_BYTES = { least: 24, max: 64 };

const endpoint = z
  .string()
  .max(2_000)
  .refine((url) => canonicalUrl(url) !== undefined, "takes an absolute http(s) URL without credentials");

const secret = z.string().refine(
  (text) => {
    const bytes = Buffer.from(SECRET.exec(text)?.[1] ?? "", "base64").length;
    return bytes >= SECRET_BYTES.least && bytes <= SECRET_BYTES.max;
  },
  // The message does not repeat the value: it may be most of a secret.
  { error: "takes whsec_ followed by base64 of 24 to 64 bytes; if secret is missing, Trawl generates one" },
);

export const webhookSchema = z
  .strictObject({
    url: endpoint.describe("Where events are posted. Redirects are not followed."),
    secret: secret.optional().describe("Signs the events. Default: generated, and returned once."),
    events: z
      .array(z.enum(WEBHOOK_EVENTS))
      .min(1)
      .optional()
      .describe("Default: the end of the job. `records` adds the records that the job extracts."),
    batch: z
      .strictObject({ records: z.int().min(1).max(10_000).optional() })
      .optional()
      .describe("The maximum number of records per event. Default: 100."),
  })
  .describe("Receives events of the job: docs/webhooks.md.");

export type WebhookInput = z.output<typeof webhookSchema>;
