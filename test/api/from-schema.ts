/** Values for a JSON schema as OpenAPI has them: such as it asks for, and the same with something wrong. */
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
/** What a field may hold that nobody expects there. */
const junk = fc.oneof(
  fc.constantFrom<unknown>(...ODD, null, true, -1, 0.5, 1e308, Number.MAX_SAFE_INTEGER, [], {}, "x".repeat(5_000)),
  fc.jsonValue({ maxDepth: 2 }),
);

/** More of an object at once, and one field or other makes nearly every one of them wrong. */
const OPTIONAL_MOST = 3;
const DEEPEST = 5;

/**
 * Half of them as asked for, half with one thing wrong, and now and then anything at all. What fields have to do with each
 * other no schema says: with an `example`, it is that and something more.
 */
export function valueFor(schema: Schema, example: Record<string, unknown> = {}): fc.Arbitrary<unknown> {
  const good = fitting(schema, 0).map((value) => (isObject(value) ? withMore(example, value) : value));
  return fc.oneof(
    { weight: 10, arbitrary: good },
    { weight: 9, arbitrary: fc.tuple(good, fc.nat(), junk).map(([value, nth, wrong]) => spoiled(value, nth, wrong)) },
    { weight: 1, arbitrary: junk },
  );
}

/** As the schema asks for. What only words can tell of a text, its examples show. */
export function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.examples !== undefined) return fc.constantFrom(...schema.examples);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((one) => fitting(one, depth + 1)));
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
  if (prefixItems !== undefined) return fc.tuple(...prefixItems.map((one) => fitting(one, depth + 1)));
  if (depth > DEEPEST || items === undefined || items === false) return fc.constant([]);
  return fc.array(fitting(items, depth + 1), { minLength: minItems, maxLength: Math.max(minItems, 4) });
}

function objectFor(schema: Schema, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties, propertyNames = { pattern: "^[a-z]{1,8}$" } } = schema;
  if (typeof additionalProperties === "object" && Object.keys(properties).length === 0) {
    const names = fitting({ type: "string", ...propertyNames }, depth).map(String);
    const values = depth > DEEPEST ? fc.constant("h1") : fitting(additionalProperties, depth + 1);
    return fc.dictionary(names, values, { minKeys: 1, maxKeys: 3 });
  }
  const optional = depth > DEEPEST ? [] : Object.keys(properties).filter((name) => !required.includes(name));
  return fc
    .subarray(optional, { maxLength: Math.min(optional.length, OPTIONAL_MOST) })
    .chain((chosen) =>
      fc.record(
        Object.fromEntries([...required, ...chosen].map((name) => [name, fitting(properties[name] ?? {}, depth + 1)])),
      ),
    );
}

/** The example with more in it, also where it has objects itself: a schedule's job without URLs would never be taken. */
function withMore(example: Record<string, unknown>, more: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(more).map(([name, value]) => {
    const known = example[name];
    return [name, isObject(known) && isObject(value) ? withMore(known, value) : value];
  });
  return { ...example, ...Object.fromEntries(fields) };
}

/** The same, but for one place in it; or with a field that nobody has heard of. */
function spoiled(value: unknown, nth: number, wrong: unknown): unknown {
  const places = placesIn(value);
  const place = places[nth % (places.length + 1)];
  if (place === undefined) return isObject(value) ? { ...value, unheardOf: wrong } : wrong;
  return replaced(value, place, wrong);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Place = readonly (string | number)[];

function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...at, name];
    return [place, ...placesIn(inner, place)];
  });
}

function replaced(value: unknown, [name, ...rest]: Place, wrong: unknown): unknown {
  if (name === undefined) return wrong;
  if (Array.isArray(value))
    return value.map((one, nth) => (String(nth) === String(name) ? replaced(one, rest, wrong) : one));
  const fields = value as Record<string, unknown>;
  return { ...fields, [name]: replaced(fields[name], rest, wrong) };
}
