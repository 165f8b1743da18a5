/**
 * The table of block signatures: responses with which a site refuses a crawler instead of answering. The first row that
 * matches names the block. Rows of products are before the general ones.
 */
import type { BlockName } from "../../domain/block.ts";
import { decodeContent, parseCodings } from "./content-coding.ts";

/** All given parts must match. */
export type BlockSignature = {
  name: BlockName;
  statuses: readonly number[];
  /** At least one of these headers matches. */
  headers?: Readonly<Record<string, RegExp>>;
  /** At least one of these texts is in the body; upper and lower case are the same. */
  body?: readonly string[];
};

/** The client keeps the bodies of responses with these statuses, so that the signatures can search them. */
export const BLOCK_STATUSES: readonly number[] = [401, 403, 405, 429, 503];

const REFUSED = [403, 405, 429, 503];
const ANY = [200, ...BLOCK_STATUSES];

export const BLOCK_SIGNATURES: readonly BlockSignature[] = [
  { name: "cloudflare", statuses: ANY, headers: { "cf-mitigated": /challenge|block/i } },
  {
    name: "cloudflare",
    statuses: REFUSED,
    headers: { server: /^cloudflare/i, "cf-ray": /./ },
    body: ["cf-chl-", "challenge-platform", "cf-error-details", "attention required! | cloudflare", "just a moment..."],
  },
  { name: "datadome", statuses: ANY, headers: { "x-datadome": /protected|blocked/i, "x-dd-b": /./ } },
  { name: "datadome", statuses: ANY, body: ["captcha-delivery.com", "geo.captcha-delivery"] },
  { name: "perimeterx", statuses: ANY, headers: { "x-px-block": /./, "x-px-blocked": /./ } },
  { name: "perimeterx", statuses: ANY, body: ["px-captcha", "_pxappid", "window._pxuuid"] },
  { name: "akamai", statuses: REFUSED, headers: { server: /^akamaighost/i, "akamai-grn": /./ } },
  { name: "akamai", statuses: REFUSED, body: ["errors.edgesuite.net", "/_sec/cp_challenge/"] },
  {
    name: "captcha",
    statuses: REFUSED,
    body: ["g-recaptcha", "h-captcha", "hcaptcha.com/1/api.js", "cf-turnstile", "captcha"],
  },
];

/** A challenge page with status 200 is short. Longer pages are not searched: their text may name a captcha. */
const MAX_PAGE_BYTES = 20_000;

export type BlockedAnswer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The decoded body of a page. */
  body: Buffer;
  /** The body of another status, as received. */
  errorBody?: Buffer | undefined;
};

/**
 * The name of the block. Undefined if the site has answered the request. A 403, or a 429 without Retry-After, that
 * matches no signature is also a block, with the name `status 403` or `status 429`.
 */
export async function findBlock(answer: BlockedAnswer): Promise<BlockName | undefined> {
  const named = await findNamedBlock(answer);
  if (named !== undefined) return named;
  const { status, headers } = answer;
  if (status === 403) return "status 403";
  return status === 429 && headers["retry-after"] === undefined ? "status 429" : undefined;
}

/**
 * The name of the signature that matches. Used for requests without a proxy in a job without `blocks`: there, a 403
 * alone is not a block.
 */
export async function findNamedBlock(answer: BlockedAnswer): Promise<BlockName | undefined> {
  const { status, headers } = answer;
  const rows = BLOCK_SIGNATURES.filter(({ statuses }) => statuses.includes(status));
  if (rows.length === 0) return undefined;
  const matching = rows.filter((row) => hasHeader(row, headers));
  const decided = matching.find((row) => row.body === undefined);
  if (decided !== undefined) return decided.name;
  const text = await textOf(answer);
  return text === "" ? undefined : matching.find(({ body = [] }) => body.some((part) => text.includes(part)))?.name;
}

function hasHeader({ headers: wanted }: BlockSignature, headers: BlockedAnswer["headers"]): boolean {
  if (wanted === undefined) return true;
  return Object.entries(wanted).some(([name, pattern]) => pattern.test(headers[name] ?? ""));
}

async function textOf(answer: BlockedAnswer): Promise<string> {
  if (!/html|json/i.test(answer.headers["content-type"] ?? "html")) return "";
  const body = await bodyOfBlock(answer);
  if (body === undefined || (answer.status < 300 && body.length > MAX_PAGE_BYTES)) return "";
  return body.toString("latin1").toLowerCase();
}

/** The decoded body of the answer. Undefined if there is none, or if it is damaged. */
export async function bodyOfBlock({ status, headers, body, errorBody }: BlockedAnswer): Promise<Buffer | undefined> {
  if (status < 300) return body;
  const codings = parseCodings(headers["content-encoding"]);
  if (errorBody === undefined || typeof codings === "string") return undefined;
  const content = await decodeContent(errorBody, codings, { bodyBytes: MAX_ERROR_BYTES, overflow: "cut" });
  return content.kind === "decoded" ? content.body : undefined;
}

const MAX_ERROR_BYTES = 262_144;
