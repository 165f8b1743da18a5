/** Secrets and signatures according to Standard Webhooks. */
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(BYTES).toString("base64");
}

/** The value of the header `webhook-signature`. `id` and `timestamp` are those of the other two webhook headers. */
export function signatureOf(secret: string, { id, timestamp, text }: { id: string; timestamp: number; text: string }) {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${text}`).digest("base64")}`;
}
