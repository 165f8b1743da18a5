/**
 * Finds values in structured data. JSON-LD is used as it is; microdata is first converted to the same form: objects
 * with a `@type`.
 */
export type Thing = Readonly<Record<string, unknown>>;

/** A type and the property names that lead from an object of that type to a value: `Product.offers.price`. */
export type ThingPath = { type: string; steps: readonly string[] };

/** Parses a path such as `Product.offers.price`. Undefined if the type or a name is empty. */
export function parseThingPath(text: string): ThingPath | undefined {
  const [type, ...steps] = text.split(".").map((part) => part.trim());
  return type === undefined || type === "" || steps.includes("") ? undefined : { type, steps };
}

/**
 * All values at the end of the path, outermost objects first. Lists on the path are searched, or indexed by a number.
 * References by `@id` are followed.
 */
export function valuesAt(roots: readonly unknown[], { type, steps }: ThingPath): unknown[] {
  const things = allThings(roots);
  const byId = new Map<unknown, Thing>();
  for (const thing of things) if (!isReference(thing)) byId.set(thing["@id"], thing);
  const wanted = type.toLowerCase();
  let values: unknown[] = things.filter((thing) => typesOf(thing).includes(wanted));
  for (const step of steps) values = values.flatMap((value) => stepInto(value, step, byId));
  return values.flat().map(plainValue).filter(isPresent);
}

/** All objects in the roots, breadth first, so that an object comes before those inside it. */
function allThings(roots: readonly unknown[]): Thing[] {
  const things: Thing[] = [];
  const queue: unknown[] = [...roots];
  // The queue grows while it is read.
  for (const value of queue) {
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) things.push(value as Thing);
    for (const inner of Object.values(value)) queue.push(inner);
  }
  return things;
}

/**
 * The types of an object without their vocabulary: `https://schema.org/Product` and `schema:Product` become `product`.
 */
function typesOf(thing: Thing): string[] {
  const types = thing["@type"];
  return (Array.isArray(types) ? types : [types])
    .filter((type: unknown) => typeof type === "string")
    .map((type) => type.slice(1 + Math.max(type.lastIndexOf("/"), type.lastIndexOf("#"), type.lastIndexOf(":"))))
    .map((name) => name.toLowerCase());
}

function isReference(thing: Thing): boolean {
  return thing["@id"] === undefined || Object.keys(thing).length === 1;
}

function stepInto(value: unknown, step: string, byId: ReadonlyMap<unknown, Thing>): unknown[] {
  if (Array.isArray(value)) {
    return /^\d+$/.test(step) ? [value[Number(step)]] : value.flatMap((inner) => stepInto(inner, step, byId));
  }
  if (typeof value !== "object" || value === null) return [];
  const thing = value as Thing;
  const whole = Object.hasOwn(thing, step) ? thing : (byId.get(thing["@id"]) ?? thing);
  return Object.hasOwn(whole, step) ? [whole[step]] : [];
}

/** `{ "@value": "x", "@language": "en" }` means "x". */
function plainValue(value: unknown): unknown {
  return typeof value === "object" && value !== null && "@value" in value ? value["@value"] : value;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
