/** Errors as problem+json (RFC 9457), with the code and the fix from the error catalogue. */
import { ERRORS, type ErrorCode, isTrawlError, TrawlError } from "../errors.ts";

type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  fix: string;
  requestId: string;
  /** Details of the error, such as `problems` or `taken`. */
  [key: string]: unknown;
};

/** HTTP status by error code. All other codes are 500. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  BAD_REQUEST: 400,
  BAD_URL: 400,
  BAD_JOB: 400,
  BAD_SCHEDULE: 400,
  BAD_SELECTOR: 400,
  BAD_SPIDER: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  EGRESS_REFUSED: 403,
  NOT_FOUND: 404,
  DASHBOARD_MISSING: 404,
  METHOD_NOT_ALLOWED: 405,
  JOB_ENDED: 409,
  CRAWL_STOPPED: 409,
  JOB_RUNNING: 409,
  JOB_ARCHIVED: 409,
  JOB_DELETED: 410,
  LIMIT_FIXED: 409,
  KEY_REUSED: 409,
  COMMAND_REFUSED: 409,
  BODY_TOO_LARGE: 413,
  BROKER_FULL: 429,
  QUOTA_REACHED: 429,
  EXTRACT_BUSY: 429,
  BROKER_UNREACHABLE: 503,
  BROKER_UNSAFE: 503,
  BROKER_SCHEMA: 503,
  STORE_UNREACHABLE: 503,
  STORE_SCHEMA: 503,
  BROWSER_UNAVAILABLE: 503,
  STOPPING: 503,
  EXTRACT_TIMEOUT: 422,
  SCRAPE_TIMEOUT: 504,
};

function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 500;
}

/** The problem document for an error. `isInternal`: it is an error of the server, which must be logged. */
export function problemOf(error: unknown, requestId: string): { problem: Problem; isInternal: boolean } {
  const known = asKnown(error);
  const status = statusOf(known.code);
  const { means, fix } = ERRORS[known.code];
  const isInternal = status === 500;
  const problem = {
    ...(isInternal ? {} : known.detail),
    type: `/docs/errors#${known.code.toLowerCase()}`,
    title: means,
    status,
    // Details of internal errors are in the log only.
    detail: isInternal ? `internal error; see the server log for request ${requestId}` : known.message,
    code: known.code,
    fix,
    requestId,
  };
  return { problem, isInternal };
}

function asKnown(error: unknown): TrawlError {
  if (isTrawlError(error)) return error;
  const { statusCode, message } = error as { statusCode?: number; message?: string };
  const op = "api.read";
  if (statusCode === 413) {
    return new TrawlError("BODY_TOO_LARGE", {
      op,
      message: "the body is larger than apiBodyBytes; send URLs as application/x-ndjson instead",
    });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new TrawlError("BAD_REQUEST", { op, message: message ?? "the request cannot be parsed" });
  }
  return new TrawlError("INTERNAL", { op, message: message ?? String(error), cause: error });
}
