import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyWebhook, WebhookError } from "./verify-webhook.ts";

/** A test vector from the reference libraries of the specification, svix-webhooks and standard-webhooks. */
const KNOWN = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: "1614265330",
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const AT = { now: Number(KNOWN.timestamp) * 1000 };

function headersOf(more: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  const { id, timestamp, signature } = KNOWN;
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature, ...more };
}

describe("verifyWebhook", () => {
  it("accepts the test vector of the reference libraries", async () => {
    const { secret, body } = KNOWN;

    expect(await verifyWebhook(secret, headersOf(), body, AT)).toEqual({ test: 2432232314 });
    expect(await verifyWebhook(secret, headersOf(), Buffer.from(body), AT)).toEqual({ test: 2432232314 });
    const headers = new Headers(headersOf() as Record<string, string>);
    expect(await verifyWebhook(secret, headers, body, AT)).toEqual({ test: 2432232314 });
  });

  it("accepts a request if any of its signatures is valid, as during a change of the secret", async () => {
    const other = `v1,${createHmac("sha256", "another").update("x").digest("base64")}`;
    const signatures = `v1a,xyz ${other} !!! ${KNOWN.signature}`;

    const headers = headersOf({ "webhook-signature": signatures });
    expect(await verifyWebhook(KNOWN.secret, headers, KNOWN.body, AT)).toBeDefined();
  });

  it.each<[string, Parameters<typeof verifyWebhook>]>([
    ["another body", [KNOWN.secret, headersOf(), `${KNOWN.body} `, AT]],
    ["another id", [KNOWN.secret, headersOf({ "webhook-id": "msg_2" }), KNOWN.body, AT]],
    ["another time", [KNOWN.secret, headersOf({ "webhook-timestamp": "1614265331" }), KNOWN.body, AT]],
    ["another secret", ["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", headersOf(), KNOWN.body, AT]],
    ["no signature", [KNOWN.secret, headersOf({ "webhook-signature": undefined }), KNOWN.body, AT]],
    ["a signature of another kind", [KNOWN.secret, headersOf({ "webhook-signature": "v2,AAAA" }), KNOWN.body, AT]],
    ["an invalid timestamp", [KNOWN.secret, headersOf({ "webhook-timestamp": "soon" }), KNOWN.body, AT]],
    ["an old request", [KNOWN.secret, headersOf(), KNOWN.body, { now: AT.now + 301_000 }]],
    ["a request from the future", [KNOWN.secret, headersOf(), KNOWN.body, { now: AT.now - 301_000 }]],
  ])("refuses %s", async (_, args) => {
    await expect(verifyWebhook(...args)).rejects.toBeInstanceOf(WebhookError);
  });
});
