/**
 * CSV cells according to RFC 4180, safe for spreadsheets. A spreadsheet would run some texts as a formula, so a text
 * that starts like one is prefixed with an apostrophe. Plain numbers, such as -5, are unchanged.
 */

// Characters that start a formula, including full-width forms. Tabs and line breaks are included, because spreadsheets
// remove them from the start of a cell.
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;
const PLAIN_NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const NEEDS_QUOTES = /[",\r\n]/;

/** A value as one cell: empty for null and undefined, JSON for lists and objects. */
export function csvCell(value: unknown): string {
  const text = neutralise(textOf(value));
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A complete line, with its line end. */
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
