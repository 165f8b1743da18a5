/**
 * Draws frames on the terminal's alternate screen and restores the terminal on close. Each frame is one write that only
 * contains the changed lines, so that nothing flickers and slow connections keep up.
 */
import pc from "picocolors";
import type { Line, TextTone } from "./cells.ts";
import type { Size } from "./frame.ts";

export type Canvas = {
  size(): Size;
  draw(lines: readonly Line[]): void;
  /** Writes the next frame completely, for example after other output has overwritten the screen. */
  invalidate(): void;
  close(): void;
};

type Terminal = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">;

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const CLEAR = "\x1b[2J";
/**
 * Leaves the alternate screen. Clears it first, because after the terminal was enlarged, leaving may not overwrite all
 * lines.
 */
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
      // On a slow connection frames are dropped instead of queued.
      if (!isOpen || isWriting) return;
      const painted = lines.map((line) => paintLine(line, isColoured));
      const changes = painted.flatMap((line, row) =>
        line === before[row] && before.length === lines.length ? [] : `\x1b[${row + 1};1H${line}\x1b[K`,
      );
      // A frame fills the screen and so replaces the last one, unless the size has changed.
      const text = (before.length === painted.length ? "" : CLEAR) + changes.join("");
      before = painted;
      if (text === "") return;
      isWriting = true;
      terminal.write(text, () => {
        isWriting = false;
      });
    },
    invalidate() {
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
  const tones: Record<TextTone, (text: string) => string> = paint;
  return line.map(({ text, tone }) => (tone === undefined ? text : tones[tone](text))).join("");
}
