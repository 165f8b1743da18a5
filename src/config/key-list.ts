/** The setting `apiKeys`: API keys from the configuration, in addition to those in the store. */
import { impliedScopes, keyProblem, SCOPES, type Scope, TENANT_NAME, TENANT_TAKES } from "../domain/api-key.ts";
import type { Field } from "./fields.ts";

export type FixedKey = { name: string; key: string; scopes: readonly Scope[]; tenant: string | undefined };

/** Keys of fewer than 16 characters could be guessed. */
const KEY = /^[\x21-\x2b\x2d-\x39\x3b-\x7e]{16,200}$/;

export function keyList({ env, doc }: { env: string; doc: string }): Required<Field<readonly FixedKey[]>> {
  return {
    default: "",
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

/** The keys, or a message that names the invalid entry. The message never contains a key. */
function read(raw: unknown, env: string): readonly FixedKey[] | string {
  const entries = typeof raw === "string" ? raw.split(",") : raw;
  if (!Array.isArray(entries) || !entries.every((entry) => typeof entry === "string")) {
    return `apiKeys (${env}) takes a list such as ${EXAMPLE}`;
  }
  const keys: FixedKey[] = [];
  for (const [index, entry] of entries.map((text) => text.trim()).entries()) {
    if (entry === "") continue;
    const key = readKey(entry);
    if (typeof key === "string") return `apiKeys (${env}): key ${index + 1} ${key}; write a key as ${EXAMPLE}`;
    keys.push(key);
  }
  return keys;
}

const EXAMPLE = "name:secret:read+submit, or name:secret:read+submit:tenant";

function readKey(entry: string): FixedKey | string {
  const [name = "", key = "", scopeList = "", tenant, ...rest] = entry.split(":");
  if (scopeList === "" || rest.length > 0) return "must have three or four parts separated by :";
  if (!TENANT_NAME.test(name)) return `has an invalid name; names take ${TENANT_TAKES}`;
  if (!KEY.test(key)) return `(${name}) must have a secret of 16 to 200 printable characters without , and :`;
  const scopes = scopeList.split("+");
  const unknown = scopes.find((scope) => !(SCOPES as readonly string[]).includes(scope));
  // The message does not show the unknown scope: it may be a secret in the wrong position.
  if (unknown !== undefined) return `(${name}) has an unknown scope; scopes are ${SCOPES.join(", ")}, separated by +`;
  const fixed = { name, key, scopes: impliedScopes(scopes as Scope[]), tenant };
  const problem = keyProblem(fixed);
  return problem === undefined ? fixed : `(${name}) is invalid: ${problem}`;
}
