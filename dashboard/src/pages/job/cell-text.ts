/** A value of a record as text, whatever it is: shown as text and nothing else. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && isOfScalars(value)) return value.map(cellText).join(", ");
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The same where there is room for lines. */
export function wholeText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && isOfScalars(value)) return value.map(cellText).join("\n");
  return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
}

function isOfScalars(values: readonly unknown[]): boolean {
  return values.every((one) => typeof one !== "object" || one === null);
}
