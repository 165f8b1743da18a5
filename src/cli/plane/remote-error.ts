/** What a server, or the way to it, has against a request: as one of our own errors, with what to do about it here. */
import { ApiError } from "../../client/api-error.ts";
import { ERRORS, type ErrorCode, TrawlError } from "../../errors.ts";

/** The same error where it is none of the API's. */
export function remoteError(error: unknown, url: string): unknown {
  if (error instanceof ApiError) return answeredError(error, url);
  // What fetch throws where no answer came, or one that broke off.
  return error instanceof TypeError ? unreachable(url, reasonOf(error), error) : error;
}

function answeredError(error: ApiError, url: string): TrawlError {
  const { status, problem, message, requestId } = error;
  if (!Object.hasOwn(ERRORS, String(problem.code))) {
    return unreachable(url, `something answers with ${status}, and not as trawl serve does`, error);
  }
  const code = error.code as ErrorCode;
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

function unreachable(url: string, why: string, cause: unknown): TrawlError {
  return new TrawlError("API_UNREACHABLE", {
    op: "cli.api",
    message: `${url}: ${why}; is trawl serve running there? check --api or TRAWL_API`,
    detail: { url },
    cause,
  });
}

/** fetch itself says only that it failed; why, stands in its cause, or in the causes of that. */
function reasonOf(error: TypeError): string {
  const cause = error.cause as (Error & { code?: string; errors?: readonly Error[] }) | undefined;
  const [first] = cause?.errors ?? [];
  return first?.message || cause?.message || cause?.code || error.message;
}
