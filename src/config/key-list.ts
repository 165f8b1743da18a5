/** The setting that gives the API keys of its own, beside those of the store: for whoever keeps secrets elsewhere. */
import { impliedScopes, keyProblem, SCOPES, type Scope, TENANT_NAME, TENANT_TAKES } from "../domain/api-key.ts";
import type { Field } from "./fields.ts";

export type FixedKey = { name: string; key: string; scopes: readonly Scope[]; tenant: string | undefined };

/** Shorter ones can be guessed. */
const KEY = /^[\x21-\x2b\x2d-\x39\x3b-\x7e]{16,200}$/;

export function keyList({ env, doc }: { env: string; doc: string }): Required<Field<readonly FixedKey[]>> {
  return {
    shown: "",
    env,
    doc,
    isSecret: true,
    takes: "a list of keys",
    parse(raw) {
      const keys = read(raw, env);
      return typeof keys === "string" ? undefined : keys;
    },
    problemOf: (raw) => {
      const problem = read(raw, env);
      return typeof problem === "string" ? problem : "";
    },
  };
}

/** The keys; or what is wrong with which of them. Keys themselves are never part of it. */
function read(raw: unknown, env: string): readonly FixedKey[] | string {
  const entries = typeof raw === "string" ? raw.split(",") : raw;
  if (!Array.isArray(entries) || !entries.every((entry) => typeof entry === "string")) {
    return `apiKeys (${env}) takes a list such as ${EXAMPLE}`;
  }
  const keys: FixedKey[] = [];
  for (const [index, entry] of entries.map((text) => text.trim()).entries()) {
    if (entry === "") continue;
    const key = readKey(entry);
    if (typeof key === "string") return `apiKeys (${env}): key ${index + 1} ${key}; keys are such as ${EXAMPLE}`;
    keys.push(key);
  }
  return keys;
}

const EXAMPLE = "name:secret:read+submit, or name:secret:read+submit:tenant";

function readKey(entry: string): FixedKey | string {
  const [name = "", key = "", words = "", tenant, ...rest] = entry.split(":");
  if (words === "" || rest.length > 0) return "is not of three or four parts with : between";
  if (!TENANT_NAME.test(name)) return `has a name that takes ${TENANT_TAKES}`;
  if (!KEY.test(key)) return `(${name}) has a secret that is no 16 to 200 printable characters without , and :`;
  const scopes = words.split("+");
  const odd = scopes.find((word) => !(SCOPES as readonly string[]).includes(word));
  // What is no scope may be a secret that stands in the wrong place.
  if (odd !== undefined) return `(${name}) has a scope that is none; take ${SCOPES.join(", ")}, with + between`;
  const fixed = { name, key, scopes: impliedScopes(scopes as Scope[]), tenant };
  const problem = keyProblem(fixed);
  return problem === undefined ? fixed : `(${name}) has wrong ${problem}`;
}
