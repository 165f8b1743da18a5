/** Where a broker or store is, in words that may be shown: passwords stay out of logs, errors and answers. */

/** Files have no passwords; an @ in their path is a part of it. */
const FILE = /^(?:sqlite|file):/;

/** The URL without what only its owner may know: whatever stands before the host, and the values of its query. */
export function shownPlace(url: string): string {
  if (FILE.test(url)) return url;
  // To the last @: a password that was not encoded may hold one itself, and a slash.
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*:(?:\/\/)?)?(.*)$/is.exec(url) ?? [];
  const at = rest.lastIndexOf("@");
  return scheme + (at < 0 ? rest : `***@${rest.slice(at + 1)}`).replace(/=[^&]*/g, "=***");
}

/** What only the owner of a place may know of it, as it is written and as it is meant. */
export function secretsOf(url: string): string[] {
  if (FILE.test(url)) return [];
  // A user alone is no secret, and its name may be a word of every line.
  const [, password = ""] = /^[a-z][a-z0-9+.-]*:(?:\/\/)?[^:]*:(.*)@/is.exec(url) ?? [];
  return password === "" ? [] : [...new Set([password, decoded(password)])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % is a part of it
  }
}
