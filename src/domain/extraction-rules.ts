/**
 * Extraction rules as a job stores them: the fields of its records. The schema is in extract/rules.ts; see
 * docs/extraction.md.
 */

export const FIELD_TYPES = [
  "text",
  "multiline",
  "number",
  "integer",
  "boolean",
  "url",
  "date",
  "html",
  "json",
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

type Scalar = string | number | boolean | null;

/** One field in full. With `fields`, the value is an object, and `type`, `match` and `default` are not allowed. */
export type RuleDetail = {
  select: string;
  type?: FieldType | undefined;
  required?: boolean | undefined;
  /** Whether the value is the list of all matches instead of the first match. */
  list?: boolean | undefined;
  /** A regular expression. The value is its first group, or the whole match if it has no group. */
  match?: string | undefined;
  /** The value if nothing matches. */
  default?: Scalar | Scalar[] | undefined;
  fields?: Record<string, Rule> | undefined;
};

/** A selector, a rule in full, or either of them in brackets for a list. */
export type Rule = string | RuleDetail | [string | RuleDetail];

/**
 * The fields of a record by name. The value of `$each` is a selector: each element that it matches becomes one record.
 */
export type Rules = Record<string, Rule>;

/** The key of `Rules` whose selector yields one record per element. */
export const EACH = "$each";
