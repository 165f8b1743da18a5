/** What the values of a column are, all records taken together. `empty`: none has any; `json`: nested, or of several kinds. */
export type ColumnKind = "empty" | "text" | "number" | "truth" | "json";

/** Every field of the records, in the order they first appear. */
export type Columns = ReadonlyMap<string, ColumnKind>;

/** The kind of a column with one more value in it. */
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
      return "truth";
    default:
      return "json";
  }
}
