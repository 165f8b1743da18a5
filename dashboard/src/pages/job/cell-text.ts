/** Any value of a record as text on one line. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && areScalars(value)) return value.map(cellText).join(", ");
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Any value of a record as text that may have several lines. */
export function wholeText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && areScalars(value)) return value.map(cellText).join("\n");
  return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
}

function areScalars(values: readonly unknown[]): boolean {
  return values.every((one) => typeof one !== "object" || one === null);
}
