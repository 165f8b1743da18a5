/** The schema of extraction rules in a job. See docs/extraction.md. */
import { z } from "zod";
import { EACH, FIELD_TYPES, type Rule, type Rules } from "../domain/extraction-rules.ts";

/** Maximum nesting of objects. Bounds the work of a hostile job. */
export const DEEPEST_FIELDS = 5;

const LONGEST_NAME_CHARS = 200;
const LONGEST_SOURCE_CHARS = 2_000;
const NESTED_TOO_DEEP = `"fields" nest at most ${DEEPEST_FIELDS} deep`;
/** Keys that are allowed for values, but not for objects. */
const VALUE_KEYS = ["type", "match", "default"] as const;

/** Rules of a job. Unknown keys are rejected. `compileRules` validates selectors. */
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

/** Why a field name is invalid; undefined if it is valid. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() !== name || name === "")
    return "a field's name cannot be empty, and cannot begin or end with a space";
  if (name.length > LONGEST_NAME_CHARS) return `a field's name has at most ${LONGEST_NAME_CHARS} characters`;
  return /^[_$]/.test(name) ? 'names that begin with "_" or "$" are reserved: use another name' : undefined;
}

function ruleAt(depth: number): z.ZodType<Rule, Rule> {
  const source = z
    .string()
    .trim()
    .min(1, "a selector cannot be empty")
    .max(LONGEST_SOURCE_CHARS)
    .meta({ examples: ["h1", ".price", "a@href"] });
  const one = [source, detailAt(depth, source)] as const;
  return z.union([...one, z.tuple([z.union(one, { error: describeUnionIssue })])], { error: describeUnionIssue });
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
      error: `"fields" makes an object, which cannot have ${VALUE_KEYS.join(", ")}`,
    })
    .refine((rule) => rule.required !== true || rule.default === undefined, {
      error: '"required" and "default" contradict each other: keep one',
    })
    .meta({ id: depth === 0 ? "Rule" : `Rule${depth + 1}` });
}

export function isRegExp(source: string): boolean {
  try {
    return source !== "" && new RegExp(source) !== undefined;
  } catch {
    // RegExp throws only for an invalid pattern.
    return false;
  }
}

/**
 * The error message of a union. zod reports only "invalid input"; this reports the problem of the alternative that fits
 * best.
 */
function describeUnionIssue(issue: { code?: string | undefined; errors?: unknown }): string {
  const forms = (issue.errors ?? []) as readonly (readonly UnionProblem[])[];
  const meant = forms.find(
    (problems) => !problems.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  if (meant === undefined) return 'must be a selector, { "select": … }, or one of these in brackets for a list';
  return meant.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`)).join("; ");
}

type UnionProblem = { code: string; path: readonly PropertyKey[]; message: string };
