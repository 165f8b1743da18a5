/** Values nested deeper are refused: `JSON.stringify` overflows the stack on them, long after we are done here. */
const DEEPEST_VALUE = 200;

/**
 * Parses JSON as pages hold it: inside comments or CDATA, with raw line breaks in strings, with trailing commas, with
 * escaped quotes. Undefined if that does not help. Never throws.
 */
export function parseGently(text: string): unknown {
  const strict = tryParse(text);
  if (strict !== undefined) return strict;
  const bare = withoutWrapping(text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: raw control characters are the mistake to mend
  const mended = bare.replace(/[\0-\x1f\u2028\u2029]+/g, " ");
  return (
    tryParse(mended) ?? tryParse(withoutTrailingCommas(mended)) ?? tryParse(withoutTrailingCommas(unescaped(mended)))
  );
}

function tryParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value) ? value : undefined;
  } catch {
    // Broken JSON on a page is what the web does, not an error of ours: the caller tries the next mending.
    return undefined;
  }
}

function withoutWrapping(text: string): string {
  return text
    .replace(/^[\s\ufeff]*(?:\/\/\s*)?(?:\/\*\s*)?(?:<!--|<!\[CDATA\[)(?:\s*\*\/)?/, "")
    .replace(/(?:\/\/\s*)?(?:\/\*\s*)?(?:-->|\]\]>)(?:\s*\*\/)?\s*$/, "")
    .replace(/;\s*$/, "");
}

/** By hand, because a regular expression that skips strings takes quadratic time on a string that never ends. */
function withoutTrailingCommas(text: string): string {
  let mended = "";
  let keptTo = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (isInString && char === "\\") at++;
    else if (char === '"') isInString = !isInString;
    else if (!isInString && char === "," && endsList(text, at + 1)) {
      mended += text.slice(keptTo, at);
      keptTo = at + 1;
    }
  }
  return mended + text.slice(keptTo);
}

/** True if nothing but spaces comes before a closing bracket. */
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
