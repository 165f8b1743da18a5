/**
 * Keeps secrets out of what is logged and shown: by the name of a field, by the shape of a text, and word for word where
 * the secret itself is known. Better one mask too many than a key in somebody's log archive.
 */

const MASK = "***";

/** Names whose values only their owner may know, whatever they hold. */
const SECRET_NAME =
  /^(?:x-|proxy-|set-)*(?:authorization|cookie|cookies|pass|passwd|password|passphrase|secret|credentials?|api[-_]?keys?|auth|auth[-_]?token|access[-_]?(?:token|key)|refresh[-_]?token|id[-_]?token|client[-_]?secret|private[-_]?key|session[-_]?id|signature)$/i;

/** A lease has a token as well: a number, and no secret. */
const SECRET_TEXT_NAME = /^token$/i;

const SHAPES: readonly (readonly [RegExp, string])[] = [
  // Web: a user and password end at the first slash. Paths such as /@name are none.
  [/\b(https?:\/\/)[^\s/?#@]*(?:@[^\s/?#@]*)*@/gi, `$1${MASK}@`],
  // Everything else that is a place: a password that was not encoded may hold a slash, or an @ itself.
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

/** Shorter ones would mask words that mean something else. */
const KNOWN_LEAST = 4;

/** What is logged or shown, without what is secret. */
export type Redact = {
  text(text: string): string;
  /** Any value, as JSON may hold it; errors become their message. */
  value(value: unknown): unknown;
};

/** `known` are secrets of this process: they are masked wherever they turn up. */
export function createRedact(known: readonly string[]): Redact {
  const words = known.filter((word) => word.length >= KNOWN_LEAST).sort((one, other) => other.length - one.length);

  function text(said: string): string {
    let safe = said;
    for (const word of words) safe = safe.replaceAll(word, MASK);
    for (const [shape, mask] of SHAPES) safe = safe.replace(shape, mask);
    return safe;
  }

  function value(said: unknown, depth: number): unknown {
    if (typeof said === "string") return text(said);
    if (said instanceof Error) return text(said.message);
    if (typeof said !== "object" || said === null) return said;
    if (depth > DEEPEST) return "…";
    if (Array.isArray(said)) return said.map((part) => value(part, depth + 1));
    return Object.fromEntries(Object.entries(said).map(([name, part]) => [name, field(name, part, depth)]));
  }

  function field(name: string, said: unknown, depth: number): unknown {
    if (said === undefined || said === null) return said;
    if (SECRET_NAME.test(name) || (typeof said === "string" && SECRET_TEXT_NAME.test(name))) return MASK;
    return value(said, depth + 1);
  }

  return { text, value: (said) => value(said, 0) };
}

/** What is nested deeper than this is not for a log line, and may go round in a circle. */
const DEEPEST = 6;
