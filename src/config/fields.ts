/** The types of settings: how each is parsed from text or from a config file, and how docs/config.md describes it. */

import { parseDurationMs } from "../domain/duration.ts";
import { QUEUE_NAME } from "../domain/queue-name.ts";
import { parseRate } from "../domain/rate.ts";

export type Field<T> = {
  /** The default as a user would write it. */
  readonly default: string;
  readonly env: string;
  readonly doc: string;
  readonly takes: string;
  readonly isSecret: boolean;
  /** The parsed value, or undefined if the raw value is invalid. */
  parse(raw: unknown): T | undefined;
  /** For values with several parts: a message that names the invalid part. */
  problemOf?(raw: unknown): string;
};

type Spec = { env: string; doc: string };

export function text(spec: Spec & { default: string; isSecret?: boolean }): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" && raw !== "" ? raw : undefined);
  return { isSecret: false, ...spec, takes: "text", parse };
}

/** Secret text; empty by default. */
export function secret(spec: Spec): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" ? raw : undefined);
  return { ...spec, default: "", isSecret: true, takes: "text", parse };
}

/**
 * Secret text for an HTTP header. A key that was pasted with a space or a line break is refused here, before it is
 * sent.
 */
export function headerSecret(spec: Spec): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" && /^[\x21-\x7e]*$/.test(raw) ? raw : undefined);
  return { ...secret(spec), takes: "printable ASCII characters without spaces", parse };
}

/** The base URL of a server, without a trailing slash; or `none`. */
export function serverUrl(spec: Spec & { default: string }): Field<string> {
  const parse = (raw: unknown) => {
    if (raw === "none") return raw;
    if (typeof raw !== "string" || !/^https?:\/\//i.test(raw) || !URL.canParse(raw)) return undefined;
    const { username, password, search, hash } = new URL(raw);
    return username + password + search + hash === "" ? raw.replace(/\/+$/, "") : undefined;
  };
  // Secret, because an invalid value may contain a password.
  return { ...text({ ...spec, isSecret: true }), takes: "an http(s) URL without credentials or query, or none", parse };
}

/** Text that is valid in an HTTP header. */
export function headerText(spec: Spec & { default: string }): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" && /^[\x20-\x7e]+$/.test(raw) ? raw : undefined);
  return { ...text(spec), takes: "printable ASCII", parse };
}

/** A name that is part of keys and file names. */
export function name(spec: Spec & { default: string }): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" && QUEUE_NAME.test(raw) ? raw : undefined);
  return { ...text(spec), takes: "letters, digits and _ . : - (at most 64 characters)", parse };
}

/** A comma-separated list, or an array in a config file; empty by default. */
export function list(spec: Spec): Field<readonly string[]> {
  const split = (raw: string) =>
    raw
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  const parse = (raw: unknown) => {
    if (typeof raw === "string") return split(raw);
    return Array.isArray(raw) && raw.every((part) => typeof part === "string") ? raw : undefined;
  };
  return { ...spec, default: "", isSecret: false, takes: "a comma-separated list", parse };
}

export function count(spec: Spec & { default: number; min: number; max: number }): Field<number> {
  const { env, doc, min, max } = spec;
  const parse = (raw: unknown) => {
    const value = typeof raw === "string" && raw.trim() !== "" ? Number(raw.replaceAll("_", "")) : raw;
    return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : undefined;
  };
  return {
    default: String(spec.default),
    env,
    doc,
    isSecret: false,
    takes: `a whole number, ${min} to ${max}`,
    parse,
  };
}

/** A whole number, or `auto`, the default. */
export function autoCount(spec: Spec & { min: number; max: number }): Field<number | "auto"> {
  const number = count({ ...spec, default: spec.min });
  const parse = (raw: unknown) => (raw === "auto" ? "auto" : number.parse(raw));
  return { ...number, default: "auto", takes: `${number.takes}, or auto`, parse };
}

export function duration(spec: Spec & { default: string; min: string; max: string }): Field<number> {
  const { env, doc, min, max } = spec;
  const [minMs, maxMs] = [bound(min), bound(max)];
  const parse = (raw: unknown) => {
    const ms = typeof raw === "string" || typeof raw === "number" ? parseDurationMs(raw) : undefined;
    return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
  };
  return {
    default: spec.default,
    env,
    doc,
    isSecret: false,
    takes: `a duration such as 500ms, 30s, 2m, 24h; ${min} to ${max}`,
    parse,
  };
}

/** A limit, or `none`, the default, which is stored as Infinity. */
export function limit(field: Field<number>): Field<number> {
  const parse = (raw: unknown) => (raw === NONE ? Number.POSITIVE_INFINITY : field.parse(raw));
  return { ...field, default: NONE, takes: `${field.takes}; or ${NONE}`, parse };
}

const NONE = "none";
const NEVER = "never";

/** A duration, or `never`, which is stored as Infinity. */
export function orNever(field: Field<number>): Field<number> {
  const parse = (raw: unknown) => (raw === NEVER ? Number.POSITIVE_INFINITY : field.parse(raw));
  return { ...field, takes: `${field.takes}; or ${NEVER}`, parse };
}

/** A rate, stored as the minimum time between two requests, in ms; 0 means unlimited. */
export function rate(spec: Spec & { default: string }): Field<number> {
  const parse = (raw: unknown) => (typeof raw === "string" ? parseRate(raw) : undefined);
  return { ...spec, isSecret: false, takes: "a rate such as 4/s, 10/m, 100/h, or unlimited", parse };
}

export function flag(spec: Spec & { default: boolean }): Field<boolean> {
  return {
    ...spec,
    default: String(spec.default),
    isSecret: false,
    takes: "true or false",
    parse: (raw) => (typeof raw === "boolean" ? raw : BOOLEANS.get(String(raw).toLowerCase())),
  };
}

const BOOLEANS = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false],
]);

/** A number from 0 to 1. */
export function fraction(spec: Spec & { default: number }): Field<number> {
  const parse = (raw: unknown) => {
    const value = typeof raw === "string" && raw.trim() !== "" ? Number(raw) : raw;
    return typeof value === "number" && value >= 0 && value <= 1 ? value : undefined;
  };
  return { ...spec, default: String(spec.default), isSecret: false, takes: "a number from 0 to 1", parse };
}

/** `on`, `off`, a value that `flag` accepts, or the value `or`. */
export function onOffOr<const T extends string>(
  spec: Spec & { default: "on" | "off"; or: T },
): Field<"on" | "off" | T> {
  const { env, doc, or } = spec;
  const boolean = flag({ env, doc, default: false });
  const parse = (raw: unknown) => {
    if (raw === or) return or;
    if (raw === "on" || raw === "off") return raw;
    const isOn = boolean.parse(raw);
    return isOn === undefined ? undefined : isOn ? "on" : "off";
  };
  return { default: spec.default, env, doc, isSecret: false, takes: `on, off or ${or}`, parse };
}

export function choice<const T extends string>(spec: Spec & { default: T; of: readonly T[] }): Field<T> {
  const { env, doc, of } = spec;
  const parse = (raw: unknown) => of.find((option) => option === raw);
  return { default: spec.default, env, doc, isSecret: false, takes: `one of ${of.join(", ")}`, parse };
}

function bound(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) throw new RangeError(`config schema: ${text} is not a duration`);
  return ms;
}
