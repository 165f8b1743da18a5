/** Creates API keys. The secret is returned once, to the caller. The store keeps its hash only. */
import { hash, randomBytes } from "node:crypto";
import { keyProblem, type Quotas, type Scope } from "../domain/api-key.ts";
import { TrawlError } from "../errors.ts";
import type { HashedKey } from "../store/key-store.ts";

export type KeyInput = {
  name: string;
  tenant: string | undefined;
  scopes: readonly Scope[];
  quotas: Quotas;
  expiresAt: number | undefined;
};

/** 256 bits cannot be guessed, neither online nor from the hash. */
const KEY_BYTES = 32;
const ID_BYTES = 6;

/** Creates a key. Throws BAD_REQUEST for an invalid combination of tenant and scopes. */
export function newKey(draft: KeyInput, now: number): { key: HashedKey; secret: string } {
  const { name, tenant, scopes, quotas, expiresAt } = draft;
  checkKey(draft);
  const secret = `trawl_${randomBytes(KEY_BYTES).toString("base64url")}`;
  const id = `k${randomBytes(ID_BYTES).toString("hex")}`;
  const key = { id, hash: hashOfKey(secret), name, tenant, scopes: [...new Set(scopes)], quotas, expiresAt };
  return { key: { ...key, createdAt: now }, secret };
}

/** Checks the combination of tenant and scopes. Throws BAD_REQUEST. */
export function checkKey(draft: Pick<KeyInput, "tenant" | "scopes">): void {
  const problem = keyProblem(draft);
  if (problem !== undefined) throw new TrawlError("BAD_REQUEST", { op: "keys.check", message: problem });
}

/**
 * The stored form of a secret; keys are looked up by it. Plain SHA-256 is enough: only secrets that people choose need
 * salts and slow hashes. The duration of a lookup may reveal part of a stored hash. That does not help an attacker, who
 * cannot construct a secret with a given hash.
 */
export function hashOfKey(secret: string): string {
  return hash("sha256", secret);
}
