/** Converts errors of the client library to TrawlError, with a hint for the command line. */
import { ApiError, unreachable } from "../../client/api-error.ts";
import { ERRORS, type ErrorCode, TrawlError } from "../../errors.ts";

/** Other errors are returned unchanged. */
export function remoteError(error: unknown, url: string): unknown {
  // A download may break off after a successful response.
  const known = error instanceof TypeError ? unreachable(url, error) : error;
  return known instanceof ApiError ? answeredError(known, url) : known;
}

function answeredError(error: ApiError, url: string): TrawlError {
  const { status, problem, message, requestId } = error;
  if (!Object.hasOwn(ERRORS, String(problem.code))) {
    return noServer(`${url}: something answers with ${status}, and not as trawl serve does`, url, error);
  }
  const code = error.code as ErrorCode;
  if (code === "API_UNREACHABLE") return noServer(message, url, error);
  const said = code === "INTERNAL" ? `${url} failed at that: its log has it under ${requestId}` : message;
  return new TrawlError(code, {
    op: "cli.api",
    message: `${said}${hintOn(code, problem)}`,
    detail: { ...problem },
    cause: error,
  });
}

function hintOn(code: ErrorCode, { scope }: Readonly<Record<string, unknown>>): string {
  if (code === "UNAUTHORIZED") return "; set TRAWL_API_KEY to a key of that server";
  if (code === "FORBIDDEN" && scope !== undefined) return `; set TRAWL_API_KEY to a key with the scope ${scope}`;
  return "";
}

function noServer(what: string, url: string, cause: unknown): TrawlError {
  return new TrawlError("API_UNREACHABLE", {
    op: "cli.api",
    message: `${what}; is trawl serve running there? check --api or TRAWL_API`,
    detail: { url },
    cause,
  });
}
