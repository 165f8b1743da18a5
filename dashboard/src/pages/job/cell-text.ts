/** A value of a record as text, whatever it is: shown as text and nothing else. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The same where there is room for lines. */
export function wholeText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
}
