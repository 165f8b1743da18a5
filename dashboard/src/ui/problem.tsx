/** Shows an error next to the action that failed: what happened, and what to do. */
import { isApiError } from "../../../src/client/api-error.ts";
import { baseUrl } from "../session.ts";
import { cut } from "./format.ts";

/** Longer messages are cut: a message may quote the input of the user. */
const MESSAGE_MAX = 2_000;

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (error === undefined) return null;
  const { what, fix, code, requestId } = errorText(error);
  return (
    <div class="problem" role="alert">
      <p class="problem-what">{what}</p>
      {fix !== "" && <p class="problem-fix">{fix}</p>}
      <p class="problem-foot">
        {code !== "" && <a href={`${baseUrl()}docs/errors#${code.toLowerCase()}`}>{code}</a>}
        {requestId !== "" && <span>request {requestId}</span>}
        {onRetry !== undefined && (
          <button type="button" class="small" onClick={onRetry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

/** The parts of the message, for places that show only one line. */
export function errorText(error: unknown): { what: string; fix: string; code: string; requestId: string } {
  if (isApiError(error, "API_UNREACHABLE")) {
    const fix = "Check that `trawl serve` is running. The page retries automatically.";
    return { what: "The server does not answer.", fix, code: "", requestId: "" };
  }
  if (isApiError(error)) {
    const { code, requestId } = error;
    // The advice about the Authorization header is meant for programs, not for the sign-in form.
    const [what = ""] = code === "UNAUTHORIZED" ? error.message.split("; send ") : [withoutRequestPart(error.message)];
    return { what: sentence(what), fix: code === "UNAUTHORIZED" ? "" : error.fix, code, requestId };
  }
  return { what: error instanceof Error ? error.message : String(error), fix: "", code: "", requestId: "" };
}

/**
 * Removes the part of the request that a message names, as in `body.urls.3`: the user filled in a form, not a request.
 */
export function withoutRequestPart(message: string): string {
  return message.replace(/(^|; |\n)(?:body|query|path)(?:\.(?=\w)|: )/g, "$1");
}

/** API messages start in lower case and have no full stop, because they also appear in log lines. */
function sentence(message: string): string {
  const text = cut(message, MESSAGE_MAX);
  // A field name such as politeness.rate keeps its case.
  const first = /^\w+\.[\w.]+: /.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return `${first}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}
