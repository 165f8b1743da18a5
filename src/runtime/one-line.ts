const MOST = 300;

/** Words that somebody else has chosen, in one line that is short enough to be kept and shown. */
export function oneLine(words: string): string {
  return words.replace(/\s+/g, " ").trim().slice(0, MOST);
}
