/** Reads a refresh: the header `Refresh`, or `<meta http-equiv="refresh">`. */

/** A refresh after a longer time shows the page to readers first, so it is no redirect. */
export const MAX_REFRESH_SECONDS = 10;

/**
 * The URL as written to which a refresh redirects. Undefined if the text is no refresh, has no URL, which reloads the
 * page itself, or waits longer than MAX_REFRESH_SECONDS. The syntax is that of HTML: `5; url=/next`, `0,'/next'`.
 */
export function refreshTarget(text: string): string | undefined {
  const parts = /^\s*(\d{1,9})?(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(.*)$/s.exec(text);
  if (parts === null) return undefined;
  const [, seconds, rest = ""] = parts;
  if (seconds === undefined && !/^\s*\./.test(text)) return undefined;
  if (Number(seconds ?? 0) > MAX_REFRESH_SECONDS) return undefined;
  const written = /^url\s*=\s*(.*)$/is.exec(rest)?.[1] ?? rest;
  const quote = written.charAt(0);
  if (quote !== '"' && quote !== "'") return written.trim() || undefined;
  const end = written.indexOf(quote, 1);
  return written.slice(1, end === -1 ? undefined : end).trim() || undefined;
}
