/**
 * Masks secrets in logs and output: values of fields with a secret name, text that matches a pattern, and the known
 * secrets of this process. A false positive is better than a key in a log archive.
 */

const MASK = "***";

/** Names of fields whose values are always masked. */
const SECRET_NAME =
  /^(?:x-|proxy-|set-)*(?:authorization|cookie|cookies|pass|passwd|password|passphrase|secret|credentials?|api[-_]?keys?|auth|auth[-_]?token|access[-_]?(?:token|key)|refresh[-_]?token|id[-_]?token|client[-_]?secret|private[-_]?key|session[-_]?id|signature)$/i;

/** Fields with this name are masked only if the value is a string. The token of a lease is a number and not secret. */
const SECRET_TEXT_NAME = /^token$/i;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // Web URLs: credentials end at the first slash. Paths such as /@name are not credentials.
  [/\b(https?:\/\/)[^\s/?#@]*(?:@[^\s/?#@]*)*@/gi, `$1${MASK}@`],
  // Other connection URLs: a password that was not encoded may contain a slash or an @.
  [/\b((?!https?:|file:|sqlite:)[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'<>]*@/gi, `$1${MASK}@`],
  [
    /([?&;](?:[a-z0-9_-]*(?:api|access|auth|private)[-_]?(?:key|token)|key|token|auth|pass|passwd|password|secret|client_secret|sig|signature|session|sessionid|sid)=)[^&;#\s"'<>]+/gi,
    `$1${MASK}`,
  ],
  [/\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|api-key)(["']?\s*[:=]\s*["']?)[^\r\n"']+/gi, `$1$2${MASK}`],
  // A key of our own API.
  [/\btrawl_[A-Za-z0-9_-]{20,}/g, MASK],
  [/\bwhsec_[A-Za-z0-9+/=_-]{20,}/g, MASK],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${MASK}`],
];

/** Shorter secrets are not searched for, because they would mask unrelated text. */
const MIN_KNOWN = 4;

/** Masks secrets. */
export type Redact = {
  text(text: string): string;
  /** Masks secrets in any JSON value. Errors are replaced by their message. */
  value(value: unknown): unknown;
};

/** `known`: secrets of this process, which are masked wherever they occur. */
export function createRedact(known: readonly string[]): Redact {
  // Longest first: a secret may contain another one.
  const secrets = known.filter((secret) => secret.length >= MIN_KNOWN).sort((one, other) => other.length - one.length);

  function text(original: string): string {
    let safe = original;
    for (const secret of secrets) safe = safe.replaceAll(secret, MASK);
    for (const [pattern, mask] of PATTERNS) safe = safe.replace(pattern, mask);
    return safe;
  }

  function value(original: unknown, depth: number): unknown {
    if (typeof original === "string") return text(original);
    if (original instanceof Error) return text(original.message);
    if (typeof original !== "object" || original === null) return original;
    if (depth > MAX_DEPTH) return "…";
    if (Array.isArray(original)) return original.map((part) => value(part, depth + 1));
    return Object.fromEntries(Object.entries(original).map(([name, part]) => [name, field(name, part, depth)]));
  }

  function field(name: string, original: unknown, depth: number): unknown {
    if (original === undefined || original === null) return original;
    if (SECRET_NAME.test(name) || (typeof original === "string" && SECRET_TEXT_NAME.test(name))) return MASK;
    return value(original, depth + 1);
  }

  return { text, value: (original) => value(original, 0) };
}

/** Values that are nested deeper are removed, because they may be circular. */
const MAX_DEPTH = 6;
