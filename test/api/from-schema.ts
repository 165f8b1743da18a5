/** Values for a JSON schema as OpenAPI has them: mostly such as it asks for, and some that it does not. */
import fc from "fast-check";

export type Schema = {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
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

export function valueFor(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: depth === 0 ? 30 : 60, arbitrary: fitting(schema, depth) }, { weight: 1, arbitrary: junk });
}

function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return depth > 4 ? junk : fc.oneof(...choices.map((one) => fitting(one, depth + 1)));
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
      return depth > 4 ? fc.constant([]) : fc.array(valueFor(schema.items ?? {}, depth + 1), { maxLength: 4 });
    case "object":
      return objectFor(schema, depth);
    default:
      return junk;
  }
}

function textFor({ pattern, minLength = 0, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  const texts: fc.Arbitrary<string>[] = [
    fc.string({ minLength, maxLength: Math.min(60, maxLength) }),
    fc.constantFrom("https://a.example/", "https://b.example/x?y=1", "h1", "1/s", "5s", "**/x", "a.example"),
  ];
  if (pattern !== undefined) texts.push(fc.stringMatching(new RegExp(pattern)));
  return fc.oneof(...texts);
}

function rangeOf({ minimum = -1_000, maximum = 1_000_000 }: Schema): { min: number; max: number } {
  return { min: Math.max(minimum, -1e9), max: Math.min(maximum, 1e9) };
}

function objectFor({ properties = {}, required = [], additionalProperties }: Schema, depth: number) {
  if (depth > 5) return fc.constant({});
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valueFor(one, depth + 1)])),
    { requiredKeys: required },
  );
  const isOpen = typeof additionalProperties === "object";
  const others = isOpen
    ? fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), valueFor(additionalProperties, depth + 1), {
        maxKeys: 3,
      })
    : fc.oneof({ weight: 20, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.constant({ unheardOf: 1 }) });
  return fc.tuple(known, others).map(([one, other]) => ({ ...other, ...one }));
}
