import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { BLOCK_SIGNATURES, type BlockedAnswer, findBlock, findNamedBlock } from "./block-signatures.ts";

const HTML = { "content-type": "text/html" };

/** Small pages of our own, with the parts by which the products can be recognized. */
const BLOCKED: readonly { name: string; answer: Partial<BlockedAnswer> & { text?: string } }[] = [
  { name: "cloudflare", answer: { status: 403, headers: { ...HTML, "cf-mitigated": "challenge" } } },
  {
    name: "cloudflare",
    answer: { status: 503, headers: { server: "cloudflare" }, text: '<div id="cf-chl-widget">Wait</div>' },
  },
  {
    name: "cloudflare",
    answer: { status: 403, headers: { "cf-ray": "1-FRA" }, text: "<title>Attention Required! | Cloudflare</title>" },
  },
  { name: "datadome", answer: { status: 403, headers: { "x-datadome": "protected" } } },
  {
    name: "datadome",
    answer: { status: 200, text: '<script src="https://ct.captcha-delivery.com/c.js"></script>' },
  },
  { name: "perimeterx", answer: { status: 403, text: '<div id="px-captcha"></div>' } },
  { name: "akamai", answer: { status: 403, headers: { server: "AkamaiGHost" } } },
  { name: "akamai", answer: { status: 403, text: "Reference https://errors.edgesuite.net/18.x" } },
  { name: "captcha", answer: { status: 429, text: '<form><div class="g-recaptcha"></div></form>' } },
  { name: "status 403", answer: { status: 403, text: "Forbidden" } },
  { name: "status 429", answer: { status: 429, text: "Slow down" } },
];

const NOT_BLOCKED: readonly (Partial<BlockedAnswer> & { text?: string })[] = [
  { status: 200, text: "<h1>How a captcha works</h1><div class='g-recaptcha'></div>" },
  { status: 200, headers: { server: "cloudflare", "cf-ray": "1-FRA" }, text: "<h1>A page behind Cloudflare</h1>" },
  { status: 404, text: "px-captcha" },
  { status: 429, headers: { "retry-after": "5" }, text: "Slow down" },
  { status: 503, text: "Maintenance" },
  { status: 401, text: "Sign in" },
];

describe("block signatures", () => {
  it.each(BLOCKED)("recognize $name: $answer", async ({ name, answer }) => {
    expect(await findBlock(complete(answer))).toBe(name);
    const isPlain = name.startsWith("status ");
    expect(await findNamedBlock(complete(answer))).toBe(isPlain ? undefined : name);
  });

  it.each(NOT_BLOCKED)("do not match %o", async (answer) => {
    expect(await findBlock(complete(answer))).toBeUndefined();
  });

  it("are found in a compressed body, and a damaged one is no error", async () => {
    const headers = { ...HTML, "content-encoding": "gzip" };
    const errorBody = gzipSync("<div id='px-captcha'>");
    expect(await findNamedBlock({ status: 403, headers, body: Buffer.alloc(0), errorBody })).toBe("perimeterx");
    const damaged = errorBody.subarray(0, 10);
    expect(await findNamedBlock({ status: 403, headers, body: Buffer.alloc(0), errorBody: damaged })).toBeUndefined();
  });

  it("ignore the text of a long page with status 200", async () => {
    const text = `<div id="px-captcha"></div>${"x".repeat(20_000)}`;
    expect(await findBlock(complete({ status: 200, text }))).toBeUndefined();
  });

  it("each have a name, a status, and a header or a text", () => {
    for (const { name, statuses, headers, body } of BLOCK_SIGNATURES) {
      expect([name, statuses.length > 0, headers !== undefined || body !== undefined]).toEqual([name, true, true]);
      expect(body?.every((part) => part === part.toLowerCase()) ?? true).toBe(true);
    }
  });
});

function complete({ status = 200, headers = HTML, text = "" }: Partial<BlockedAnswer> & { text?: string }) {
  const bytes = Buffer.from(text);
  return status === 200
    ? { status, headers, body: bytes }
    : { status, headers, body: Buffer.alloc(0), errorBody: bytes };
}
