/**
 * Measures and cuts text in terminal cells: some characters take two cells, some take none. Lines that are cut here
 * never exceed their width, whatever characters a name contains.
 */
import { showable } from "../../runtime/showable.ts";

export type TextTone = "bold" | "dim" | "cyan" | "green" | "yellow" | "red" | "inverse";
/** A part of a line with its style. */
export type Piece = { text: string; tone?: TextTone | undefined };
export type Line = readonly Piece[];

/** East Asian characters and emoji, which take two cells. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Combining marks, which take no cell of their own. */
const MARK = /\p{M}/u;
/** Joiners, selectors and other invisible characters. Terminals disagree on their width, so they are removed. */
const INVISIBLE = /[\p{Cf}\p{Cs}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/u;
/** The maximum number of marks on one character. No language needs more. */
const MAX_MARKS = 2;
/** Longer text is cut before it is measured: a page title can have megabytes. */
const MAX_LENGTH = 1_000;

type Cell = { text: string; width: number };

/** Cuts text to `width` cells. The result has no control characters and no characters of unknown width. */
export function cutTo(text: string, width: number): string {
  const cells = cellsOf(showable(text.slice(0, MAX_LENGTH)));
  const whole = cells.reduce((sum, cell) => sum + cell.width, 0);
  if (whole <= width && text.length <= MAX_LENGTH) return cells.map((cell) => cell.text).join("");
  if (width < 1) return "";
  let used = 0;
  let cut = "";
  for (const cell of cells) {
    if (used + cell.width > width - 1) break;
    used += cell.width;
    cut += cell.text;
  }
  return `${cut}…`;
}

/** Like `cutTo`, padded with spaces to `width`. */
export function padTo(text: string, width: number, isRight = false): string {
  const fitted = cutTo(text, width);
  const spaces = " ".repeat(Math.max(0, width - widthOf(fitted)));
  return isRight ? spaces + fitted : fitted + spaces;
}

/** The width of text that `cutTo` returned. */
export function widthOf(text: string): number {
  return cellsOf(text).reduce((sum, cell) => sum + cell.width, 0);
}

/** Cuts a line at its end to `width` cells. */
export function fitLine(line: Line, width: number): Line {
  const fitted: Piece[] = [];
  let left = width;
  for (const { text, tone } of line) {
    if (left <= 0) break;
    const piece = cutTo(text, left);
    left -= widthOf(piece);
    fitted.push({ text: piece, tone });
  }
  return fitted;
}

function cellsOf(text: string): Cell[] {
  const cells: Cell[] = [];
  let marks = 0;
  for (const char of text) {
    if (INVISIBLE.test(char)) continue;
    if (MARK.test(char)) {
      marks += 1;
      const before = cells.at(-1);
      if (before !== undefined && marks <= MAX_MARKS) before.text += char;
      continue;
    }
    marks = 0;
    cells.push({ text: char, width: WIDE.test(char) ? 2 : 1 });
  }
  return cells;
}
