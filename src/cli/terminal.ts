/** Terminal output: colours, widths, tables. */
import { basename } from "node:path";
import pc from "picocolors";
import { formatDuration } from "../domain/duration.ts";
import { showable } from "../runtime/showable.ts";

export type Screen = {
  /**
   * Writes results to stdout. Resolves when the text is written. A caller that awaits it writes no faster than the
   * reader reads.
   */
  out(text: string): Promise<void>;
  /** Writes messages to stderr. */
  err(text: string): void;
  /** Shows a block at the bottom of the terminal. The next block replaces it, and `err` writes above it. */
  live(block: string): void;
  /** True if stderr is a terminal that can show `live` blocks. */
  isLive: boolean;
  /** Width of stderr. */
  columns(): number;
  /** Width of stdout; infinite for a pipe or a file. */
  outColumns(): number;
  paint: ReturnType<typeof pc.createColors>;
  /** The command that starts this program: `trawl`, or `npx trawl` if it is not on the shell's path. */
  command: string;
};

/** The screen of this process. Live blocks and colours are used only if stderr is a terminal that supports them. */
export function processScreen(): Screen {
  const { stdout, stderr } = process;
  const isLive = stderr.isTTY === true && stderr.columns !== undefined;
  let liveLines = 0;

  function write(text: string, isBlock: boolean): void {
    // The carriage return overwrites a ^C that the terminal has echoed. A single write avoids flicker.
    stderr.write((liveLines === 0 ? "" : `\r\x1b[${liveLines}A\x1b[0J`) + text);
    liveLines = isBlock ? text.split("\n").length - 1 : 0;
  }

  return {
    out: (text) => {
      if (liveLines > 0) write("", true);
      // Unlike "drain", the callback also runs after the reader has closed the pipe, which shutdown.ts handles.
      return new Promise((resolve) => stdout.write(text, () => resolve()));
    },
    err: (text) => write(text, false),
    live: (block) => write(block, true),
    isLive,
    columns: () => stderr.columns || USUAL_COLUMNS,
    outColumns: () => (stdout.isTTY ? stdout.columns || USUAL_COLUMNS : Number.POSITIVE_INFINITY),
    paint: pc.createColors(isLive && pc.isColorSupported),
    command: ownCommand(),
  };
}

/** Used for a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

/**
 * The command that starts this program. With npx the program is in node_modules, and in a clone it has another file
 * name. Neither is on the shell's path.
 */
export function ownCommand(): string {
  const script = process.argv[1] ?? "";
  const isInstalled = basename(script) === "trawl" && !script.includes("node_modules");
  return isInstalled ? "trawl" : "npx trawl";
}

/**
 * Replaces `trawl` in suggested commands by the command that starts this program. Code that is shared with the API
 * suggests a command after a colon: `resume it with: trawl resume JOB`.
 */
export function withCommand(text: string, { command }: Pick<Screen, "command">): string {
  return text.replaceAll(/(?<=: )trawl (?=[a-z])/g, `${command} `);
}

/** Shortens text in the middle, so that both the host of a URL and the end of its path stay readable. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text;
  if (width < 8) return text.slice(0, Math.max(0, width));
  const head = Math.ceil((width - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (width - 1 - head))}`;
}

/** A duration in its largest unit only: `3m`, not `3m 12s`. */
export function roughAge(ms: number): string {
  return formatDuration(Math.max(1000, Math.round(ms / 1000) * 1000)).split(" ")[0] ?? "";
}

type TableStyle = {
  /** Indexes of right-aligned columns. */
  right?: readonly number[];
  /** The maximum line width; the last column is shortened to fit. */
  width?: number;
  /** Colours per column. Cells are escaped, so they cannot contain colour codes themselves. */
  paint?: Readonly<Record<number, (text: string) => string>>;
};

/** Formats rows as columns with two spaces between them. Cells are escaped for the terminal. */
export function table(cells: readonly (readonly string[])[], style: TableStyle = {}): string {
  const { right = [], width = Infinity, paint = {} } = style;
  const rows = cells.map((row) => row.map(showable));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const lastWidth = width - widths.slice(0, -1).reduce((sum, cell) => sum + cell + GAP.length, 0);
  const aligned = (cell: string, index: number) => {
    const max = widths[index] ?? 0;
    if (right.includes(index)) return cell.padStart(max);
    return index === columns - 1 ? shorten(cell, Math.max(lastWidth, NARROWEST)) : cell.padEnd(max);
  };
  // Cells are coloured after they are aligned, because colour codes take no space on the terminal.
  const painted = (cell: string, index: number) => (paint[index] ?? unpainted)(aligned(cell, index));
  return rows.map((row) => `${row.map(painted).join(GAP).trimEnd()}\n`).join("");
}

function unpainted(text: string): string {
  return text;
}

const GAP = "  ";
/** The last column is not made narrower than this; on a narrower terminal lines wrap. */
const NARROWEST = 16;

/** Suggested next commands: a label, and the arguments of the command. */
export function steps(choices: readonly (readonly [string, string])[], { paint, command }: Screen): string {
  const rows = choices.map(([label, args]) => [`  ${label}`, `${command} ${args}`]);
  return table(rows, { paint: { 1: paint.cyan } });
}
