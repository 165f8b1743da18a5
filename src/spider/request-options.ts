/**
 * Checks the options of `follow` and `request`. The frontier stores these values, and an invalid value would crash the
 * worker there. Checked here, it fails only the page.
 */
import type { BodySettings, TaskRequest } from "../domain/request.ts";
import { requestOf, requestPartsSchema, requestProblem } from "../submit/url-entry.ts";

/** Tasks wait in the broker with their carry, so it must be small. Pages and bodies belong into the store. */
const MAX_CARRY_BYTES = 16_384;

/** Throws if `carry` is too large or is not JSON. */
export function checkCarry(carry: unknown): void {
  const json = jsonOf(carry, "follow: `carry`");
  const what = findNotJson(carry);
  if (what !== undefined) throw new Error(`follow: \`carry\` takes JSON values only, and ${what}`);
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_CARRY_BYTES) return;
  throw new Error(
    `follow: \`carry\` has ${bytes} bytes, more than the limit of ${MAX_CARRY_BYTES}; emit a record, or carry only an id`,
  );
}

/** What in a value JSON would drop or change without an error, such as a socket or a Map; undefined if nothing. */
function findNotJson(value: unknown, path = ""): string | undefined {
  const at = path === "" ? "it" : path;
  if (value === null || ["string", "boolean", "undefined"].includes(typeof value)) return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${at} is ${value}`;
  if (typeof value !== "object") return `${at} is a ${typeof value}`;
  if (Array.isArray(value)) return firstOf(value.map((one, nth) => [`${path}[${nth}]`, one]));
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || prototype === Object.prototype || "toJSON" in value;
  if (!isPlain) return `${at} is a ${value.constructor?.name || "class instance"}`;
  return firstOf(Object.entries(value).map(([key, one]) => [path === "" ? key : `${path}.${key}`, one]));
}

function firstOf(values: readonly (readonly [path: string, value: unknown])[]): string | undefined {
  for (const [path, value] of values) {
    const found = findNotJson(value, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The request that the options describe; undefined for a plain GET. Throws if they are invalid. */
export function requestFrom(parts: object, name: string, settings: BodySettings): TaskRequest | undefined {
  if (Object.keys(parts).length === 0) return undefined;
  const parsed = requestPartsSchema.safeParse(parts);
  if (parsed.success) {
    const request = requestOf(parsed.data);
    const problem = request && requestProblem(request, settings);
    if (problem === undefined) return request;
    throw new Error(`${name}: ${problem}`);
  }
  const problems = parsed.error.issues.map(({ path, message }) => `\`${path.join(".")}\`: ${message}`);
  throw new Error(`${name}: ${problems.join("; ")}`);
}

/** The value as JSON. Throws if it cannot be written as JSON. */
export function jsonOf(value: unknown, what: string): string {
  try {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) return json;
    throw new TypeError(`it is a ${typeof value}`);
  } catch (cause) {
    const [reason] = (cause as Error).message.split("\n");
    throw new Error(`${what} cannot be written as JSON: ${reason}`, { cause });
  }
}
