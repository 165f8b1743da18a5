/**
 * Text as a terminal lays it out: in cells, of which some characters take two and some none. Whatever a name holds, a line
 * that is made here is no wider than it says.
 */
import { showable } from "../../runtime/showable.ts";

export type Tone = "bold" | "dim" | "cyan" | "green" | "yellow" | "red" | "inverse";
/** A piece of a line, and how it looks. */
export type Piece = { text: string; tone?: Tone | undefined };
export type Line = readonly Piece[];

/** What East Asian writing and pictures take. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1b000}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Accents and the like, which stand on the character before them. */
const MARK = /\p{M}/u;
/** What joins, hides or selects without being seen: terminals do not agree on what it does to widths. */
const UNSEEN = /[\p{Cf}\p{Cs}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/u;
/** As many marks as any language puts on one character. */
const MARKS_MOST = 2;
/** More of a name is not looked at: pages have titles of megabytes. */
const LOOKED_AT = 1_000;

type Cell = { text: string; width: number };

/** Nothing of it moves a cursor, turns writing round, or is of a width that nobody knows. */
export function cutTo(text: string, width: number): string {
  const cells = cellsOf(showable(text.slice(0, LOOKED_AT)));
  const whole = cells.reduce((sum, cell) => sum + cell.width, 0);
  if (whole <= width && text.length <= LOOKED_AT) return cells.map((cell) => cell.text).join("");
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

/** The same, filled up with spaces. */
export function padTo(text: string, width: number, isRight = false): string {
  const fitted = cutTo(text, width);
  const spaces = " ".repeat(Math.max(0, width - widthOf(fitted)));
  return isRight ? spaces + fitted : fitted + spaces;
}

/** Cells that a text takes which has been made fit. */
export function widthOf(text: string): number {
  return cellsOf(text).reduce((sum, cell) => sum + cell.width, 0);
}

/** A line of pieces, those at its end cut off where it is too long. */
export function fitLine(line: Line, width: number): Line {
  const fitted: Piece[] = [];
  let room = width;
  for (const { text, tone } of line) {
    if (room <= 0) break;
    const piece = cutTo(text, room);
    room -= widthOf(piece);
    fitted.push({ text: piece, tone });
  }
  return fitted;
}

function cellsOf(text: string): Cell[] {
  const cells: Cell[] = [];
  let marks = 0;
  for (const char of text) {
    if (UNSEEN.test(char)) continue;
    if (MARK.test(char)) {
      marks += 1;
      const before = cells.at(-1);
      if (before !== undefined && marks <= MARKS_MOST) before.text += char;
      continue;
    }
    marks = 0;
    cells.push({ text: char, width: WIDE.test(char) ? 2 : 1 });
  }
  return cells;
}
