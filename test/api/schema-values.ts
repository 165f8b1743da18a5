/** Random values for a JSON schema of an OpenAPI document: valid ones, and valid ones with one fault. */
import fc from "fast-check";

export type Schema = {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  format?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  propertyNames?: Schema;
  prefixItems?: Schema[];
  items?: Schema | false;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minItems?: number;
  $ref?: string;
};

const ODD = [
  "",
  "0",
  "-1",
  "null",
  "\u0000",
  "../../etc/passwd",
  "'; DROP TABLE pages; --",
  "ü\u{1F3A3}",
  "%",
  "[::1]",
  "1e999",
];
/** Values that no field expects. */
const junk = fc.oneof(
  fc.constantFrom<unknown>(...ODD, null, true, -1, 0.5, 1e308, Number.MAX_SAFE_INTEGER, [], {}, "x".repeat(5_000)),
  fc.jsonValue({ maxDepth: 2 }),
);

/** With more optional fields per object, at least one of them makes nearly every object invalid. */
const MAX_OPTIONAL = 3;
const DEEPEST = 5;

/**
 * Half of the values are valid, nearly half have one fault, and a few are arbitrary. A schema does not say how fields
 * depend on each other; with an `example`, a valid value is therefore the example with additional fields.
 */
export function valueFor(schema: Schema, example: Record<string, unknown> = {}): fc.Arbitrary<unknown> {
  const good = validFor(schema, 0).map((value) => (isObject(value) ? withFields(example, value) : value));
  return fc.oneof(
    { weight: 10, arbitrary: good },
    { weight: 9, arbitrary: fc.tuple(good, fc.nat(), junk).map(([value, nth, wrong]) => withFault(value, nth, wrong)) },
    { weight: 1, arbitrary: junk },
  );
}

/**
 * A value that the schema allows; one of its `examples` if it has some, because a schema cannot express every format.
 */
export function validFor(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.examples !== undefined) return fc.constantFrom(...schema.examples);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((one) => validFor(one, depth + 1)));
  switch (schema.type) {
    case "string":
      return textFor(schema);
    case "integer":
      return fc.integer(rangeOf(schema));
    case "number":
      return fc.double({ ...rangeOf(schema), noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return listFor(schema, depth);
    case "object":
      return objectFor(schema, depth);
    default:
      return fc.constantFrom("x", 1, null);
  }
}

function textFor({ format, pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (format === "date-time") return fc.constantFrom("2099-01-01T00:00:00.000Z", "2099-06-30T12:00:00Z");
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(60, maxLength)) });
}

function rangeOf({ minimum, maximum = 1e6, exclusiveMinimum }: Schema): { min: number; max: number } {
  const min = minimum ?? (exclusiveMinimum === undefined ? -1_000 : exclusiveMinimum + 0.001);
  return { min: Math.max(min, -1e9), max: Math.max(min, Math.min(maximum, 1e9)) };
}

function listFor({ prefixItems, items, minItems = 0 }: Schema, depth: number): fc.Arbitrary<unknown> {
  if (prefixItems !== undefined) return fc.tuple(...prefixItems.map((one) => validFor(one, depth + 1)));
  if (depth > DEEPEST || items === undefined || items === false) return fc.constant([]);
  return fc.array(validFor(items, depth + 1), { minLength: minItems, maxLength: Math.max(minItems, 4) });
}

function objectFor(schema: Schema, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties, propertyNames = { pattern: "^[a-z]{1,8}$" } } = schema;
  if (typeof additionalProperties === "object" && Object.keys(properties).length === 0) {
    const names = validFor({ type: "string", ...propertyNames }, depth).map(String);
    const values = depth > DEEPEST ? fc.constant("h1") : validFor(additionalProperties, depth + 1);
    return fc.dictionary(names, values, { minKeys: 1, maxKeys: 3 });
  }
  const optional = depth > DEEPEST ? [] : Object.keys(properties).filter((name) => !required.includes(name));
  return fc
    .subarray(optional, { maxLength: Math.min(optional.length, MAX_OPTIONAL) })
    .chain((chosen) =>
      fc.record(
        Object.fromEntries([...required, ...chosen].map((name) => [name, validFor(properties[name] ?? {}, depth + 1)])),
      ),
    );
}

/** Adds the fields also to nested objects of the example: a schedule whose job has no URLs would always be refused. */
function withFields(example: Record<string, unknown>, more: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(more).map(([name, value]) => {
    const known = example[name];
    return [name, isObject(known) && isObject(value) ? withFields(known, value) : value];
  });
  return { ...example, ...Object.fromEntries(fields) };
}

/** The value with one part replaced, or with an unknown field. */
function withFault(value: unknown, nth: number, wrong: unknown): unknown {
  const paths = pathsIn(value);
  const path = paths[nth % (paths.length + 1)];
  if (path === undefined) return isObject(value) ? { ...value, unknownField: wrong } : wrong;
  return withValueAt(value, path, wrong);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type JsonPath = readonly (string | number)[];

function pathsIn(value: unknown, at: JsonPath = []): JsonPath[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = [...at, name];
    return [path, ...pathsIn(inner, path)];
  });
}

function withValueAt(value: unknown, [name, ...rest]: JsonPath, wrong: unknown): unknown {
  if (name === undefined) return wrong;
  if (Array.isArray(value))
    return value.map((one, nth) => (String(nth) === String(name) ? withValueAt(one, rest, wrong) : one));
  const fields = value as Record<string, unknown>;
  return { ...fields, [name]: withValueAt(fields[name], rest, wrong) };
}
