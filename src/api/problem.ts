/** What went wrong, as problem+json (RFC 9457): every error has its code from the catalogue, and says what to do. */
import { ERRORS, type ErrorCode, isTrawlError, TrawlError } from "../errors.ts";

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  fix: string;
  requestId: string;
  /** What else the error knows: the keys that are wrong, how much was taken. */
  [key: string]: unknown;
};

/** Codes that are the caller's to mend; whatever is not here is ours: 500. */
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
  JOB_RUNNING: 409,
  JOB_ARCHIVED: 409,
  JOB_DELETED: 410,
  LIMIT_FIXED: 409,
  KEY_REUSED: 409,
  ORDER_REFUSED: 409,
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

export function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? 500;
}

/** The problem an error is, and whether it is one of ours that somebody should look into. */
export function problemOf(error: unknown, requestId: string): { problem: Problem; isOurs: boolean } {
  const known = asKnown(error);
  const status = statusOf(known.code);
  const { means, fix } = ERRORS[known.code];
  const isOurs = status === 500;
  const problem = {
    ...(isOurs ? {} : known.detail),
    type: `/docs/errors#${known.code.toLowerCase()}`,
    title: means,
    status,
    // What only a programmer understands stays in the log.
    detail: isOurs ? `something went wrong here; the log has it under ${requestId}` : known.message,
    code: known.code,
    fix,
    requestId,
  };
  return { problem, isOurs };
}

function asKnown(error: unknown): TrawlError {
  if (isTrawlError(error)) return error;
  const { statusCode, message } = error as { statusCode?: number; message?: string };
  const op = "api.read";
  if (statusCode === 413) {
    return new TrawlError("BODY_TOO_LARGE", {
      op,
      message: "the body is larger than the server takes (apiBodyBytes); send URLs as application/x-ndjson instead",
    });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new TrawlError("BAD_REQUEST", { op, message: message ?? "the request cannot be read" });
  }
  return new TrawlError("INTERNAL", { op, message: message ?? String(error), cause: error });
}
