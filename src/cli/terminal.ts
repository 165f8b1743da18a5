/** How text is put on a terminal: colours, widths, numbers. */
import { basename } from "node:path";
import pc from "picocolors";
import { formatDuration } from "../domain/duration.ts";
import { showable } from "../runtime/showable.ts";

export type Screen = {
  /** Results: what pipes. Resolves when more may be written, so that a slow reader is not buried. */
  out(text: string): Promise<void>;
  /** Everything else. */
  err(text: string): void;
  /** Lines that stay at the bottom: the next ones take their place, and other text goes before them. */
  live(block: string): void;
  /** Whether `live` has a terminal to draw on. */
  isLive: boolean;
  /** Width of the terminal that `err` goes to. */
  columns(): number;
  /** Width of what `out` goes to: a pipe or a file has no end. */
  outColumns(): number;
  paint: ReturnType<typeof pc.createColors>;
  /** What a person types to run this program again: `trawl`, or `npx trawl` where no shell finds it. */
  command: string;
};

/** The process's own streams. Live display and colour only where stderr is a terminal that wants them. */
export function processScreen(): Screen {
  const { stdout, stderr } = process;
  const isLive = stderr.isTTY === true && stderr.columns !== undefined;
  let liveLines = 0;

  function write(text: string, isBlock: boolean): void {
    // The carriage return is for a ^C that the terminal has echoed. All in one piece, or it flickers.
    stderr.write((liveLines === 0 ? "" : `\r\x1b[${liveLines}A\x1b[0J`) + text);
    liveLines = isBlock ? text.split("\n").length - 1 : 0;
  }

  return {
    out: (text) => {
      if (liveLines > 0) write("", true);
      // The callback also comes when the reader has gone, which stops.ts hears of; "drain" would never.
      return new Promise((resolve) => stdout.write(text, () => resolve()));
    },
    err: (text) => write(text, false),
    live: (block) => write(block, true),
    isLive,
    columns: () => stderr.columns || USUAL_COLUMNS,
    outColumns: () => (stdout.isTTY ? stdout.columns || USUAL_COLUMNS : Number.POSITIVE_INFINITY),
    paint: pc.createColors(isLive && pc.isColorSupported),
    command: commandOf(process.argv[1] ?? ""),
  };
}

/** Of a terminal that does not tell. */
const USUAL_COLUMNS = 80;

/** A clone and npx have the program in a folder of packages, which is not on a shell's path. */
function commandOf(script: string): string {
  const isInstalled = basename(script) === "trawl" && !script.includes("node_modules");
  return isInstalled ? "trawl" : "npx trawl";
}

/** Cuts to a width, keeping the end of a URL's host and the end of its path readable. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text;
  if (width < 8) return text.slice(0, Math.max(0, width));
  const head = Math.ceil((width - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (width - 1 - head))}`;
}

/** The larger unit alone: `3m`, not `3m 12s`. */
export function roughAge(ms: number): string {
  return formatDuration(Math.max(1000, Math.round(ms / 1000) * 1000)).split(" ")[0] ?? "";
}

export type TableStyle = {
  /** Columns, from 0, whose cells are numbers. */
  right?: readonly number[];
  /** The last column is shortened to keep lines within this. */
  width?: number;
  /** Colours of columns: a cell itself may have none, since what it holds may come from elsewhere. */
  paint?: Readonly<Record<number, (text: string) => string>>;
};

/** Rows as columns with two spaces between; the last column is not padded. Cells are made safe to show. */
export function table(cells: readonly (readonly string[])[], style: TableStyle = {}): string {
  const { right = [], width = Infinity, paint = {} } = style;
  const rows = cells.map((row) => row.map(showable));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const room = width - widths.slice(0, -1).reduce((sum, cell) => sum + cell + GAP.length, 0);
  const aligned = (cell: string, index: number) => {
    const most = widths[index] ?? 0;
    if (right.includes(index)) return cell.padStart(most);
    return index === columns - 1 ? shorten(cell, Math.max(room, NARROWEST)) : cell.padEnd(most);
  };
  // Painted last: colours have no width.
  const painted = (cell: string, index: number) => (paint[index] ?? asItIs)(aligned(cell, index));
  return rows.map((row) => `${row.map(painted).join(GAP).trimEnd()}\n`).join("");
}

function asItIs(text: string): string {
  return text;
}

const GAP = "  ";
/** Less of a text tells nothing: on a narrower terminal lines wrap. */
const NARROWEST = 16;

/** What may be typed next: what for, and the words after the program's name. */
export function steps(choices: readonly (readonly [string, string])[], { paint, command }: Screen): string {
  const rows = choices.map(([what, words]) => [`  ${what}`, `${command} ${words}`]);
  return table(rows, { paint: { 1: paint.cyan } });
}
