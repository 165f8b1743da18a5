/** Error messages for failed bucket requests: the error code of the server, and the fix. */
import { TrawlError } from "../../../errors.ts";
import type { S3Answer } from "./s3-client.ts";

const KEYS = "check TRAWL_S3_ACCESS_KEY and TRAWL_S3_SECRET_KEY";
const REGION = "set TRAWL_S3_REGION and TRAWL_S3_ENDPOINT to those of the bucket";

const FIXES: Readonly<Record<string, string>> = {
  NoSuchBucket: "create the bucket, or set another one in TRAWL_BODIES",
  InvalidBucketName: "set a bucket in TRAWL_BODIES, such as s3://my-bucket/pages",
  InvalidAccessKeyId: KEYS,
  SignatureDoesNotMatch: KEYS,
  ExpiredToken: "the temporary credentials have expired: get new ones",
  InvalidToken: "check the session token (AWS_SESSION_TOKEN): it belongs to other keys",
  AccessDenied: `${KEYS}, and grant permission to list the bucket and to get, put and delete objects in it`,
  RequestTimeTooSkewed: "correct the clock of this machine",
  AuthorizationHeaderMalformed: REGION,
  PermanentRedirect: REGION,
  TemporaryRedirect: REGION,
  Damaged: "the object is damaged: remove it, and fetch the page again",
};

/** The error code in a response; undefined if there is none. Responses to HEAD have no error code. */
export function findCode({ body }: S3Answer): string | undefined {
  return /<Code>([A-Za-z]+)<\/Code>/.exec(body.toString("latin1", 0, 4096))?.[1];
}

/** Throws STORE_UNREACHABLE for an unexpected response. The message contains the fix. */
export function failWith(op: string, location: string, answer: S3Answer): never {
  const { status } = answer;
  const code = findCode(answer) ?? (status === 403 ? "AccessDenied" : `status ${status}`);
  const fix = FIXES[code] ?? "check the log of the server, then retry";
  throw unreachable(op, location, `the server answered ${code} (${status}); ${fix}`, { status, code });
}

/** Throws STORE_UNREACHABLE for a request without a response. */
export function failUnanswered(op: string, location: string, endpoint: string, cause: unknown): never {
  const reason = `no answer from ${endpoint}: ${reasonOf(cause)}; check TRAWL_S3_ENDPOINT, and that the server runs`;
  throw unreachable(op, location, reason, { endpoint }, cause);
}

/** Throws STORE_UNREACHABLE for an object that cannot be decompressed. */
export function failDamaged(op: string, location: string, cause: unknown): never {
  throw unreachable(op, location, `${reasonOf(cause)}; ${FIXES.Damaged}`, {}, cause);
}

function unreachable(op: string, location: string, reason: string, detail: Record<string, unknown>, cause?: unknown) {
  return new TrawlError("STORE_UNREACHABLE", { op, message: `body ${location}: ${reason}`, detail, cause });
}

/**
 * The reason of an error. The error `fetch failed` contains the reason as its cause. If there is one reason per
 * address, the first one is returned.
 */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof AggregateError && cause.message === "") return reasonOf(cause.errors[0]);
  return cause.cause === undefined ? cause.message : reasonOf(cause.cause);
}
