/**
 * Escapes text from outside Trawl for output. Names, URLs and responses of sites may contain characters that move the
 * cursor, hide or reverse other text, or start a line that looks like output of Trawl. Such a character is written as
 * `\u001b`, which JSON parses as the same character, so a line of JSON keeps its value.
 */

/**
 * Control characters (C0 including line ends and tabs, DEL, C1), bidirectional controls, and Unicode line separators.
 */
const UNSHOWABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** One line without terminal control characters. */
export function showable(text: string): string {
  return text.replace(UNSHOWABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same for text with several lines. */
export function showableLines(text: string): string {
  return text.split("\n").map(showable).join("\n");
}
