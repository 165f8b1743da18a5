const MOST = 300;

/** A foreign message as one line of limited length. */
export function shortMessage(words: string): string {
  return words.replace(/\s+/g, " ").trim().slice(0, MOST);
}
