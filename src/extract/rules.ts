/** Extraction rules as data: what a job says, in JSON, about the fields of its records. See docs/extraction.md. */
import { z } from "zod";

export const FIELD_TYPES = ["text", "number", "integer", "boolean", "url", "date", "html", "json"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

type Scalar = string | number | boolean | null;

/** One field spelled out. `fields` makes it an object; the keys for a single value do not go with it. */
export type RuleDetail = {
  select: string;
  type?: FieldType | undefined;
  required?: boolean | undefined;
  /** All matches instead of the first. */
  list?: boolean | undefined;
  /** A regular expression; its first group, or all it matches, is the value. */
  match?: string | undefined;
  /** The value where there is none. */
  default?: Scalar | Scalar[] | undefined;
  fields?: Record<string, Rule> | undefined;
};

/** What to take: a source by itself, spelled out, or either in brackets for a list. */
export type Rule = string | RuleDetail | [string | RuleDetail];

/** The fields of a record by name. Under `$each` a selector: one record per element it matches, not one per page. */
export type Rules = Record<string, Rule>;

/** Where one record per element is asked for. */
export const EACH = "$each";

/** Objects inside objects, at most: bounds what a hostile job can make us compile. */
export const DEEPEST_FIELDS = 5;

const LONGEST_NAME_CHARS = 200;
const LONGEST_SOURCE_CHARS = 2_000;
const NESTED_TOO_DEEP = `"fields" nest at most ${DEEPEST_FIELDS} deep`;
/** What a single value may have, and an object not. */
const VALUE_KEYS = ["type", "match", "default"] as const;

/** Rules as a job holds them; unknown keys are refused. Selectors are checked by `compileRules`. */
export const rulesSchema: z.ZodType<Rules, Rules> = fieldsAt(0)
  .refine((rules) => rules[EACH] === undefined || typeof rules[EACH] === "string", {
    path: [EACH],
    error: 'must be a selector, such as ".product"',
  })
  .refine((rules) => Object.keys(rules).some((name) => name !== EACH), { error: "must name at least one field" });

function fieldsAt(depth: number) {
  return z.record(z.string(), ruleAt(depth)).superRefine((rules, context) => {
    for (const name of Object.keys(rules)) {
      const message = depth === 0 && name === EACH ? undefined : nameProblem(name);
      if (message !== undefined) context.addIssue({ code: "custom", path: [name], message });
    }
  });
}

/** What is wrong with a field's name, if anything. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() !== name || name === "") return "a field's name cannot be empty, nor begin or end with a space";
  if (name.length > LONGEST_NAME_CHARS) return `a field's name has at most ${LONGEST_NAME_CHARS} characters`;
  return /^[_$]/.test(name) ? 'names that begin with "_" or "$" are kept for Trawl: take another' : undefined;
}

function ruleAt(depth: number): z.ZodType<Rule, Rule> {
  const source = z
    .string()
    .trim()
    .min(1, "a selector cannot be empty")
    .max(LONGEST_SOURCE_CHARS)
    .meta({ examples: ["h1", ".price", "a@href"] });
  const one = [source, detailAt(depth, source)] as const;
  return z.union([...one, z.tuple([z.union(one, { error: complaint })])], { error: complaint });
}

function detailAt(depth: number, source: z.ZodString) {
  const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
  const fields = depth + 1 < DEEPEST_FIELDS ? z.lazy(() => fieldsAt(depth + 1)) : z.never(NESTED_TOO_DEEP);
  return z
    .strictObject({
      select: source,
      type: z.enum(FIELD_TYPES).optional(),
      required: z.boolean().optional(),
      list: z.boolean().optional(),
      match: z
        .string()
        .refine(isRegExp, { error: "must be a regular expression" })
        .meta({ examples: ["([0-9.]+)"] })
        .optional(),
      default: z.union([scalar, z.array(scalar)]).optional(),
      fields: fields.optional(),
    })
    .refine((rule) => rule.fields === undefined || VALUE_KEYS.every((key) => rule[key] === undefined), {
      error: `"fields" makes an object: ${VALUE_KEYS.join(", ")} do not go with it`,
    })
    .refine((rule) => rule.required !== true || rule.default === undefined, {
      error: '"required" and "default" contradict each other: keep one',
    })
    .meta({ id: depth === 0 ? "Rule" : `Rule${depth + 1}` });
}

function isRegExp(source: string): boolean {
  try {
    return source !== "" && new RegExp(source) !== undefined;
  } catch {
    // A bad pattern is all that RegExp throws for, and the answer to the question.
    return false;
  }
}

/** A union says only "invalid input": say what is wrong with the form that was meant. */
function complaint(issue: { code?: string | undefined; errors?: unknown }): string {
  const forms = (issue.errors ?? []) as readonly (readonly Complaint[])[];
  const meant = forms.find(
    (problems) => !problems.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  if (meant === undefined) return 'must be a selector, { "select": … }, or one of these in brackets for a list';
  return meant.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`)).join("; ");
}

type Complaint = { code: string; path: readonly PropertyKey[]; message: string };
