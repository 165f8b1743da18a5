/** Error messages for failed bucket requests: the error code of the server, and the fix. */
import { TrawlError } from "../../../errors.ts";
import type { S3Answer } from "./s3-client.ts";

const KEYS = "check TRAWL_S3_ACCESS_KEY and TRAWL_S3_SECRET_KEY";
const REGION = "set TRAWL_S3_REGION and TRAWL_S3_ENDPOINT to those of the bucket";

const FIXES: Readonly<Record<string, string>> = {
  NoSuchBucket: "make the bucket, or name another in TRAWL_BODIES",
  InvalidBucketName: "name a bucket in TRAWL_BODIES, such as s3://my-bucket/pages",
  InvalidAccessKeyId: KEYS,
  SignatureDoesNotMatch: KEYS,
  ExpiredToken: "the keys were lent for a while that is over: take new ones",
  InvalidToken: "check the session token (AWS_SESSION_TOKEN), which belongs to other keys",
  AccessDenied: `${KEYS}, and let them list the bucket, and get, put and delete objects in it`,
  RequestTimeTooSkewed: "set this machine's clock",
  AuthorizationHeaderMalformed: REGION,
  PermanentRedirect: REGION,
  TemporaryRedirect: REGION,
  Damaged: "the object is damaged: remove it, and fetch the page again",
};

/** The error code of the server; undefined if it sent none, as after HEAD. */
export function findCode({ body }: S3Answer): string | undefined {
  return /<Code>([A-Za-z]+)<\/Code>/.exec(body.toString("latin1", 0, 4096))?.[1];
}

/** Throws STORE_UNREACHABLE with the fix, for an unexpected response. */
export function failWith(op: string, place: string, answer: S3Answer): never {
  const { status } = answer;
  const code = findCode(answer) ?? (status === 403 ? "AccessDenied" : `status ${status}`);
  const fix = FIXES[code] ?? "check the log of the server, then retry";
  throw unreachable(op, place, `the server answered ${code} (${status}); ${fix}`, { status, code });
}

/** The same, if there was no response. */
export function failSilent(op: string, place: string, endpoint: string, cause: unknown): never {
  const words = `no answer from ${endpoint}: ${reasonOf(cause)}; check TRAWL_S3_ENDPOINT and the server behind it`;
  throw unreachable(op, place, words, { endpoint }, cause);
}

/** The same, if the response cannot be read. */
export function failDamaged(op: string, place: string, cause: unknown): never {
  throw unreachable(op, place, `${reasonOf(cause)}; ${FIXES.Damaged}`, {}, cause);
}

function unreachable(op: string, place: string, words: string, detail: Record<string, unknown>, cause?: unknown) {
  return new TrawlError("STORE_UNREACHABLE", { op, message: `body ${place}: ${words}`, detail, cause });
}

/** `fetch failed` has the reason in its cause, one for each address. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof AggregateError && cause.message === "") return reasonOf(cause.errors[0]);
  return cause.cause === undefined ? cause.message : reasonOf(cause.cause);
}
