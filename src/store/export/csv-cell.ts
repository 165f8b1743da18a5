/**
 * Cells of a CSV file by RFC 4180, made safe for spreadsheets: a page may hold text that a spreadsheet would run as a
 * formula, so text that starts like one gets an apostrophe in front. Plain numbers, such as -5, stay as they are.
 */

// What spreadsheets take for a formula's start, with the full-width forms some of them read the same way; white space
// counts because they trim it first.
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;
const PLAIN_NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const NEEDS_QUOTES = /[",\r\n]/;

/** A value as one cell: nothing for null and undefined, JSON for lists and objects. */
export function csvCell(value: unknown): string {
  const text = neutralise(textOf(value));
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A whole line, with its end. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(",")}\r\n`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function neutralise(text: string): string {
  return FORMULA_START.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
}
