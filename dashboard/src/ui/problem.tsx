/** An error, shown where it happened: what it was, and what to do about it. */
import { isApiError } from "../../../src/client/api-error.ts";
import { baseUrl } from "../session.ts";
import { cut } from "./format.ts";

/** A message may quote what was sent. */
const WORDS_MOST = 2_000;

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (error === undefined) return null;
  const { what, fix, code, requestId } = wordsOf(error);
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

/** For those who want one line of it. */
export function wordsOf(error: unknown): { what: string; fix: string; code: string; requestId: string } {
  if (isApiError(error, "API_UNREACHABLE")) {
    const fix = "Check that `trawl serve` runs. This page tries again by itself.";
    return { what: "The server does not answer.", fix, code: "", requestId: "" };
  }
  if (isApiError(error)) {
    const { code, requestId } = error;
    // What a program is to send is nothing to somebody who has just typed a key.
    const [what = ""] = code === "UNAUTHORIZED" ? error.message.split("; send ") : [withoutPart(error.message)];
    return { what: sentence(what), fix: code === "UNAUTHORIZED" ? "" : error.fix, code, requestId };
  }
  return { what: error instanceof Error ? error.message : String(error), fix: "", code: "", requestId: "" };
}

/** In which part of the request it stands, as in `body.urls.3`, is for whoever writes one. */
export function withoutPart(message: string): string {
  return message.replace(/(^|; |\n)(?:body|query|path)(?:\.(?=\w)|: )/g, "$1");
}

/** Messages of the API begin small, and have no full stop: they stand in lines of logs, too. */
function sentence(words: string): string {
  const text = cut(words, WORDS_MOST);
  // A name such as politeness.rate is written as it is.
  const first = /^\w+\.[\w.]+: /.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return `${first}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}
