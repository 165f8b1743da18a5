/** Whom a job tells how it goes, as a person writes it. */
import { z } from "zod";
import { canonicalUrl } from "../domain/canonical-url.ts";
import { WEBHOOK_EVENTS } from "../domain/webhook.ts";

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const SECRET_BYTES = { least: 24, most: 64 };

const endpoint = z
  .string()
  .max(2_000)
  .refine((url) => canonicalUrl(url) !== undefined, "takes an absolute http(s) URL without credentials");

const secret = z.string().refine(
  (text) => {
    const bytes = Buffer.from(SECRET.exec(text)?.[1] ?? "", "base64").length;
    return bytes >= SECRET_BYTES.least && bytes <= SECRET_BYTES.most;
  },
  // Not the value: it may be most of a secret.
  { error: "takes whsec_ and base64 of 24 to 64 bytes; leave it out to be given one" },
);

export const webhookSchema = z
  .strictObject({
    url: endpoint.describe("Where events are posted to. Redirects are not followed."),
    secret: secret.optional().describe("What events are signed with; made, and told once, unless given."),
    events: z
      .array(z.enum(WEBHOOK_EVENTS))
      .min(1)
      .optional()
      .describe("What is told: how the job ended, unless given; with `records` what it finds as well."),
    batch: z
      .strictObject({ records: z.int().min(1).max(10_000).optional() })
      .optional()
      .describe("How many records one event holds at most: 100 unless given."),
  })
  .describe("Whom the job tells how it goes: docs/webhooks.md.");

export type WebhookInput = z.output<typeof webhookSchema>;
