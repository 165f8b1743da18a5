/** Decodes terminal input into key names; printable characters are returned unchanged. */
const ESC = "\x1b";

const NAMED: Readonly<Record<string, string>> = {
  "\x03": "ctrl-c",
  "\x0c": "ctrl-l",
  "\t": "tab",
  "\r": "enter",
  "\n": "enter",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1b": "escape",
  "\x1b[Z": "shift-tab",
  "\x1b[A": "up",
  "\x1b[B": "down",
  "\x1b[C": "right",
  "\x1b[D": "left",
  "\x1bOA": "up",
  "\x1bOB": "down",
  "\x1bOC": "right",
  "\x1bOD": "left",
  "\x1b[H": "home",
  "\x1b[F": "end",
  "\x1b[1~": "home",
  "\x1b[4~": "end",
  "\x1b[5~": "pageup",
  "\x1b[6~": "pagedown",
};

/** Matches one escape sequence or one character. An escape character alone is the Escape key. */
const KEY = new RegExp(`${ESC}\\[[0-9;?<]*[ -/]*[@-~]|${ESC}O.|${ESC}|[^]`, "gu");

/**
 * The keys in one chunk of input. There are several if the user types fast or pastes. Unknown sequences are skipped.
 */
export function readKeys(input: string): string[] {
  return [...input.matchAll(KEY)].flatMap(([sequence]) => {
    const name = NAMED[sequence];
    if (name !== undefined) return [name];
    return /^\p{Cc}/u.test(sequence) ? [] : [sequence];
  });
}
