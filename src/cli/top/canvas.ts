/**
 * A terminal as a canvas: the whole screen while it is open, and as it was before afterwards, whatever ends the process.
 * Only lines that have changed are written, all of a frame in one piece: nothing flickers, and a slow line stays usable.
 */
import pc from "picocolors";
import type { Line, Tone } from "./cells.ts";
import type { Size } from "./frame.ts";

export type Canvas = {
  size(): Size;
  draw(lines: readonly Line[]): void;
  /** The next frame is written whole: something else may have been on the screen. */
  forget(): void;
  close(): void;
};

type Terminal = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">;

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const CLEAR = "\x1b[2J";
/** Cleared first: a terminal that was made larger meanwhile may have no other lines to show in its place. */
const LEAVE = `${CLEAR}\x1b[?7h\x1b[?25h\x1b[?1049l`;
const USUAL: Size = { columns: 80, rows: 24 };

export function openCanvas(terminal: Terminal, isColoured: boolean): Canvas {
  let before: string[] = [];
  let isOpen = true;
  let isWriting = false;
  terminal.write(ENTER);
  return {
    size: () => ({ columns: terminal.columns || USUAL.columns, rows: terminal.rows || USUAL.rows }),
    draw(lines) {
      // Whoever reads slowly misses frames, and is not buried in them.
      if (!isOpen || isWriting) return;
      const painted = lines.map((line) => paintLine(line, isColoured));
      const changes = painted.flatMap((line, row) =>
        line === before[row] && before.length === lines.length ? [] : `\x1b[${row + 1};1H${line}\x1b[K`,
      );
      // A frame fills the screen: what was there before is gone with its lines, unless it had another size.
      const text = (before.length === painted.length ? "" : CLEAR) + changes.join("");
      before = painted;
      if (text === "") return;
      isWriting = true;
      terminal.write(text, () => {
        isWriting = false;
      });
    },
    forget() {
      before = [];
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      terminal.write(LEAVE);
    },
  };
}

export function paintLine(line: Line, isColoured: boolean): string {
  const paint = pc.createColors(isColoured);
  const tones: Record<Tone, (text: string) => string> = paint;
  return line.map(({ text, tone }) => (tone === undefined ? text : tones[tone](text))).join("");
}
