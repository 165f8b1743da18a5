/**
 * Resolves references to secrets in jobs: `env:NAME` is an environment variable of the worker, and `file:PATH` is a
 * file on its disk, without the line break at its end. Jobs that users submit to a fleet may only use the secrets that
 * the operator lists in TRAWL_SECRETS. Otherwise a job could read any file, and send it to a site.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseSecretReference, type SecretReference } from "../domain/secret-reference.ts";
import { TrawlError } from "../errors.ts";

/** Returns the value of a reference, and any other text unchanged. Throws BAD_SECRET. */
export type ResolveSecret = (text: string) => string;

/** `all`: for jobs of the user who runs this process. */
export type AllowedSecrets = readonly string[] | "all";

export function createSecretResolver(allowed: AllowedSecrets): ResolveSecret {
  const known = new Map<string, string>();
  const patterns = allowed === "all" ? undefined : allowed.map(patternOf);

  function read(reference: string, { kind, name }: SecretReference): string {
    const full = kind === "file" ? `file:${resolve(name)}` : reference;
    if (patterns?.some((pattern) => pattern.test(full)) === false) {
      throw bad(reference, `is not allowed on this worker; add ${reference} to TRAWL_SECRETS`);
    }
    return kind === "env" ? fromEnvironment(name) : fromFile(name);
  }

  return (text) => {
    const reference = parseSecretReference(text);
    if (reference === undefined) return text;
    const value = known.get(text) ?? read(text, reference);
    known.set(text, value);
    return value;
  };
}

/** A text in which `*` matches any characters. Only the pattern of the operator is compiled, never that of a job. */
function patternOf(text: string): RegExp {
  const parts = text.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value !== undefined) return value;
  throw bad(`env:${name}`, `is not set; set the environment variable ${name} for every worker`);
}

function fromFile(path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (cause) {
    throw bad(`file:${path}`, `cannot be read: ${(cause as Error).message}`);
  }
}

function bad(reference: string, problem: string): TrawlError {
  return new TrawlError("BAD_SECRET", {
    op: "config.secret",
    message: `the secret ${reference} ${problem}`,
    detail: { reference },
  });
}
