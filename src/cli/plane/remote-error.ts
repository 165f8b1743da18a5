/** Converts errors of the client library to TrawlError, with hints for users of the command line. */
import { ApiError, unreachable } from "../../client/api-error.ts";
import { ERRORS, type ErrorCode, TrawlError } from "../../errors.ts";

/** The error to throw for an error of the client library. Other errors are returned unchanged. */
export function remoteError(error: unknown, url: string): unknown {
  // The connection may break during a download, after a successful response.
  const known = error instanceof TypeError ? unreachable(url, error) : error;
  return known instanceof ApiError ? fromApiError(known, url) : known;
}

function fromApiError(error: ApiError, url: string): TrawlError {
  const { status, problem, message, requestId } = error;
  if (!Object.hasOwn(ERRORS, String(problem.code))) {
    return noServer(`${url}: the response (status ${status}) is not from trawl serve`, url, error);
  }
  const code = error.code as ErrorCode;
  if (code === "API_UNREACHABLE") return noServer(message, url, error);
  const text = code === "INTERNAL" ? `internal error of ${url}; see its log for request ${requestId}` : message;
  return new TrawlError(code, {
    op: "cli.api",
    message: `${text}${hintOn(code, problem)}`,
    detail: { ...problem },
    cause: error,
  });
}

function hintOn(code: ErrorCode, { scope }: Readonly<Record<string, unknown>>): string {
  if (code === "UNAUTHORIZED") return "; set TRAWL_API_KEY to a key of that server";
  if (code === "FORBIDDEN" && scope !== undefined) return `; set TRAWL_API_KEY to a key with the scope ${scope}`;
  return "";
}

function noServer(problem: string, url: string, cause: unknown): TrawlError {
  return new TrawlError("API_UNREACHABLE", {
    op: "cli.api",
    message: `${problem}; check that trawl serve is running there, and check --api or TRAWL_API`,
    detail: { url },
    cause,
  });
}
