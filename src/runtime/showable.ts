/**
 * Makes text from elsewhere safe to show: names, URLs and answers of sites may hold characters that move the cursor,
 * hide or turn round what stands beside them, or begin a line that looks like one of ours. They are written out as
 * `\u001b`, which JSON reads as the same character: a line of JSON stays what it was.
 */

/** Control characters (C0 with line ends and tabs, DEL, C1), what turns writing round, and Unicode's own line ends. */
const UNSHOWABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** One line, with nothing in it that a terminal obeys. */
export function showable(text: string): string {
  return text.replace(UNSHOWABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same for text that has lines of its own. */
export function showableLines(text: string): string {
  return text.split("\n").map(showable).join("\n");
}
