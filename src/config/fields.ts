/** The kinds of setting there are: how each is read from text or a config file, and what it says of itself in the docs. */

import { parseDurationMs } from "../domain/duration.ts";
import { QUEUE_NAME } from "../domain/queue-name.ts";
import { parseRate } from "../domain/rate.ts";

export type Field<T> = {
  /** The default as a person would write it. */
  readonly shown: string;
  readonly env: string;
  readonly doc: string;
  readonly takes: string;
  readonly isSecret: boolean;
  /** The value, or undefined where it is not one of these. */
  parse(raw: unknown): T | undefined;
  /** Which part of a value that is not one of these is wrong, where it has parts. */
  problemOf?(raw: unknown): string;
};

type Says = { env: string; doc: string };

export function text({
  env,
  doc,
  shown,
  isSecret = false,
}: Says & { shown: string; isSecret?: boolean }): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" && raw !== "" ? raw : undefined);
  return { shown, env, doc, isSecret, takes: "text", parse };
}

/** Text that only its owner may know; empty, the default, where there is none. */
export function secret({ env, doc }: Says): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" ? raw : undefined);
  return { shown: "", env, doc, isSecret: true, takes: "text", parse };
}

/** The same, of characters that may stand in a header: what a key is pasted with is found before it is sent. */
export function secretWord(says: Says): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" && /^[\x21-\x7e]*$/.test(raw) ? raw : undefined);
  return { ...secret(says), takes: "printable characters without spaces or quotes around them", parse };
}

/** Where a server is asked, without a slash at its end; or `none`. */
export function serverUrl(says: Says & { shown: string }): Field<string> {
  const parse = (raw: unknown) => {
    if (raw === "none") return raw;
    if (typeof raw !== "string" || !/^https?:\/\//i.test(raw) || !URL.canParse(raw)) return undefined;
    const { username, password, search, hash } = new URL(raw);
    return username + password + search + hash === "" ? raw.replace(/\/+$/, "") : undefined;
  };
  // A password that somebody has put into it is not to be shown.
  return { ...text({ ...says, isSecret: true }), takes: "an http(s) URL without credentials or query, or none", parse };
}

/** Text that may stand in an HTTP header. */
export function headerText(says: Says & { shown: string }): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" && /^[\x20-\x7e]+$/.test(raw) ? raw : undefined);
  return { ...text(says), takes: "printable ASCII", parse };
}

/** One plain word: part of key names, file names and the like. */
export function word(says: Says & { shown: string }): Field<string> {
  const parse = (raw: unknown) => (typeof raw === "string" && QUEUE_NAME.test(raw) ? raw : undefined);
  return { ...text(says), takes: "letters, digits and _ . : - (64 at most)", parse };
}

/** A comma-separated list, or an array in a config file; empty by default. */
export function list({ env, doc, isSecret = false }: Says & { isSecret?: boolean }): Field<readonly string[]> {
  const split = (raw: string) =>
    raw
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  const parse = (raw: unknown) => {
    if (typeof raw === "string") return split(raw);
    return Array.isArray(raw) && raw.every((part) => typeof part === "string") ? raw : undefined;
  };
  return { shown: "", env, doc, isSecret, takes: "a comma-separated list", parse };
}

export function count({
  env,
  doc,
  shown,
  least,
  most,
}: Says & { shown: number; least: number; most: number }): Field<number> {
  const parse = (raw: unknown) => {
    const value = typeof raw === "string" && raw.trim() !== "" ? Number(raw.replaceAll("_", "")) : raw;
    return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most ? value : undefined;
  };
  return { shown: String(shown), env, doc, isSecret: false, takes: `a whole number, ${least} to ${most}`, parse };
}

/** A whole number, or `auto`: what suits the rest of the settings. */
export function autoCount(says: Says & { least: number; most: number }): Field<number | "auto"> {
  const number = count({ ...says, shown: says.least });
  const parse = (raw: unknown) => (raw === "auto" ? "auto" : number.parse(raw));
  return { ...number, shown: "auto", takes: `${number.takes}, or auto`, parse };
}

export function duration({
  env,
  doc,
  shown,
  least,
  most,
}: Says & { shown: string; least: string; most: string }): Field<number> {
  const [leastMs, mostMs] = [bound(least), bound(most)];
  const parse = (raw: unknown) => {
    const ms = typeof raw === "string" || typeof raw === "number" ? parseDurationMs(raw) : undefined;
    return ms !== undefined && ms >= leastMs && ms <= mostMs ? ms : undefined;
  };
  return {
    shown,
    env,
    doc,
    isSecret: false,
    takes: `a duration such as 500ms, 30s, 2m, 24h; ${least} to ${most}`,
    parse,
  };
}

/** Another kind of setting, or `none`, the default: kept as Infinity. */
export function limit(field: Field<number>): Field<number> {
  const parse = (raw: unknown) => (raw === NONE ? Number.POSITIVE_INFINITY : field.parse(raw));
  return { ...field, shown: NONE, takes: `${field.takes}; or ${NONE}`, parse };
}

const NONE = "none";
const NEVER = "never";

/** A duration, or `never`: kept as Infinity. */
export function orNever(field: Field<number>): Field<number> {
  const parse = (raw: unknown) => (raw === NEVER ? Number.POSITIVE_INFINITY : field.parse(raw));
  return { ...field, takes: `${field.takes}; or ${NEVER}`, parse };
}

/** Kept as the least time between two requests, in ms; 0 is unlimited. */
export function rate({ env, doc, shown }: Says & { shown: string }): Field<number> {
  const parse = (raw: unknown) => (typeof raw === "string" ? parseRate(raw) : undefined);
  return { shown, env, doc, isSecret: false, takes: "a rate such as 4/s, 10/m, 100/h, or unlimited", parse };
}

export function flag({ env, doc, shown }: Says & { shown: boolean }): Field<boolean> {
  const yes = ["true", "1", "yes"].map((word) => [word, true] as const);
  const words = new Map([...yes, ...["false", "0", "no"].map((word) => [word, false] as const)]);
  const parse = (raw: unknown) => (typeof raw === "boolean" ? raw : words.get(String(raw).toLowerCase()));
  return { shown: String(shown), env, doc, isSecret: false, takes: "true or false", parse };
}

/** From 0 to 1. */
export function share({ env, doc, shown }: Says & { shown: number }): Field<number> {
  const parse = (raw: unknown) => {
    const value = typeof raw === "string" && raw.trim() !== "" ? Number(raw) : raw;
    return typeof value === "number" && value >= 0 && value <= 1 ? value : undefined;
  };
  return { shown: String(shown), env, doc, isSecret: false, takes: "a number from 0 to 1", parse };
}

/** On or off, in the words that a flag takes as well; or another word. */
export function switchOr<const T extends string>({
  env,
  doc,
  shown,
  or,
}: Says & { shown: "on" | "off"; or: T }): Field<"on" | "off" | T> {
  const words = flag({ env, doc, shown: false });
  const parse = (raw: unknown) => {
    if (raw === or) return or;
    if (raw === "on" || raw === "off") return raw;
    const isOn = words.parse(raw);
    return isOn === undefined ? undefined : isOn ? "on" : "off";
  };
  return { shown, env, doc, isSecret: false, takes: `on, off or ${or}`, parse };
}

export function choice<const T extends string>({
  env,
  doc,
  shown,
  of,
}: Says & { shown: T; of: readonly T[] }): Field<T> {
  const parse = (raw: unknown) => of.find((word) => word === raw);
  return { shown, env, doc, isSecret: false, takes: `one of ${of.join(", ")}`, parse };
}

function bound(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) throw new RangeError(`config schema: ${text} is not a duration`);
  return ms;
}
