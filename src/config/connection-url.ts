/** Connection URLs of brokers and stores, with their passwords masked for logs, errors and API responses. */

/** A file URL contains no password. An @ in it is part of the path. */
const FILE = /^(?:sqlite|file):/;

/** The URL with `***` in place of everything before the host and of all query values. */
export function maskedUrl(url: string): string {
  if (FILE.test(url)) return url;
  // Everything up to the last @ is masked: a password that was not encoded may itself contain an @ or a slash.
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*:(?:\/\/)?)?(.*)$/is.exec(url) ?? [];
  const at = rest.lastIndexOf("@");
  return scheme + (at < 0 ? rest : `***@${rest.slice(at + 1)}`).replace(/=[^&]*/g, "=***");
}

/** The password in a connection URL, both as written and percent-decoded. */
export function secretsOf(url: string): string[] {
  if (FILE.test(url)) return [];
  // A user name alone is not secret, and masking it could mask a common word in every log line.
  const [, password = ""] = /^[a-z][a-z0-9+.-]*:(?:\/\/)?[^:]*:(.*)@/is.exec(url) ?? [];
  return password === "" ? [] : [...new Set([password, decoded(password)])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // the text contains a % that is not an escape
  }
}
