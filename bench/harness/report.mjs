/** Formats figures, tables and verdicts as text. */

const VERDICTS = { pass: "pass", fail: "FAIL", unknown: "unknown" };

export function formatVerdicts(verdicts) {
  return verdicts.map(({ bar, verdict, result }) => `${VERDICTS[verdict]}  ${bar}: ${result}`).join("\n");
}

/** The median, with minimum and maximum in brackets if they differ. */
export function formatSpread({ median, min, max }, format) {
  const [middle, least, most] = [median, min, max].map(format);
  return least === most ? middle : `${middle} (${least}-${most})`;
}

export function group(value) {
  return Math.round(value).toLocaleString("en-US");
}

export function alignColumns(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd : cell.padStart).call(cell, widths[column]));
  return rows.map((row) => line(row).join("  ").trimEnd()).join("\n");
}
