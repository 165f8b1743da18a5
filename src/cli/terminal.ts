/** How text is put on a terminal: colours, widths, numbers. */
import pc from "picocolors";

export type Screen = {
  /** Results: what pipes. */
  out(text: string): void;
  /** Everything else. */
  err(text: string): void;
  isLive: boolean;
  columns(): number;
  paint: ReturnType<typeof pc.createColors>;
};

/** The process's own streams. Live display and colour only where stderr is a terminal that wants them. */
export function processScreen(): Screen {
  const isLive = process.stderr.isTTY === true && process.stderr.columns !== undefined;
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isLive,
    columns: () => process.stderr.columns ?? 80,
    paint: pc.createColors(isLive && pc.isColorSupported),
  };
}

/** Cuts to a width, keeping the end of a URL's host and the end of its path readable. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text;
  if (width < 8) return text.slice(0, Math.max(0, width));
  const head = Math.ceil((width - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (width - 1 - head))}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Rows as columns with two spaces between; the last column is not padded. Numbers are right-aligned by the caller. */
export function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}
