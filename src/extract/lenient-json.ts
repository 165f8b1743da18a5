/** Deeper values are rejected: `JSON.stringify` would later overflow the stack on them. */
const DEEPEST_VALUE = 200;

/**
 * Parses JSON with the errors that are common in pages: enclosing comments or CDATA, raw line breaks in strings,
 * trailing commas, escaped quotes. Undefined if it cannot be parsed. Never throws.
 */
export function parseLenientJson(text: string): unknown {
  const strict = tryParse(text);
  if (strict !== undefined) return strict;
  const bare = withoutWrapping(text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: raw control characters are the error to correct
  const repaired = bare.replace(/[\0-\x1f\u2028\u2029]+/g, " ");
  return (
    tryParse(repaired) ??
    tryParse(withoutTrailingCommas(repaired)) ??
    tryParse(withoutTrailingCommas(unescaped(repaired)))
  );
}

function tryParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value) ? value : undefined;
  } catch {
    // Broken JSON in a page is not an error of Trawl. The caller tries the next correction.
    return undefined;
  }
}

function withoutWrapping(text: string): string {
  return text
    .replace(/^[\s\ufeff]*(?:\/\/\s*)?(?:\/\*\s*)?(?:<!--|<!\[CDATA\[)(?:\s*\*\/)?/, "")
    .replace(/(?:\/\/\s*)?(?:\/\*\s*)?(?:-->|\]\]>)(?:\s*\*\/)?\s*$/, "")
    .replace(/;\s*$/, "");
}

/** Uses no regular expression, because one that skips strings would take quadratic time on an unterminated string. */
function withoutTrailingCommas(text: string): string {
  let repaired = "";
  let keptTo = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (isInString && char === "\\") at++;
    else if (char === '"') isInString = !isInString;
    else if (!isInString && char === "," && endsList(text, at + 1)) {
      repaired += text.slice(keptTo, at);
      keptTo = at + 1;
    }
  }
  return repaired + text.slice(keptTo);
}

/** Whether only spaces separate `from` from a closing bracket. */
function endsList(text: string, from: number): boolean {
  let at = from;
  while (text.charAt(at) === " ") at++;
  return text.charAt(at) === "}" || text.charAt(at) === "]";
}

function unescaped(text: string): string {
  return text.includes('"') ? text : text.replaceAll("&quot;", '"').replaceAll("&#34;", '"').replaceAll("&amp;", "&");
}

function isShallow(root: unknown): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST_VALUE) return false;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return true;
}
