/** The kind of all values of a column. `empty`: no values; `json`: nested values, or values of several kinds. */
export type ColumnKind = "empty" | "text" | "number" | "boolean" | "json";

/** All fields of the records, in order of first appearance. */
export type Columns = ReadonlyMap<string, ColumnKind>;

/** The kind of a column after adding a value. */
export function widen(kind: ColumnKind, value: unknown): ColumnKind {
  const own = kindOf(value);
  if (own === "empty" || own === kind) return kind;
  return kind === "empty" ? own : "json";
}

function kindOf(value: unknown): ColumnKind {
  if (value === null || value === undefined) return "empty";
  switch (typeof value) {
    case "string":
      return "text";
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    default:
      return "json";
  }
}
