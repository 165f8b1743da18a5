/** Makes keys. A key is shown once, to whoever asked for it; what is kept is its hash. */
import { hash, randomBytes } from "node:crypto";
import { keyProblem, type Quotas, type Scope } from "../../domain/api-key.ts";
import { TrawlError } from "../../errors.ts";
import type { NewKey } from "../../store/key-book.ts";

export type KeyDraft = {
  name: string;
  tenant: string | undefined;
  scopes: readonly Scope[];
  quotas: Quotas;
  expiresAt: number | undefined;
};

/** 256 bits: nobody guesses one, nor finds one by its hash. */
const KEY_BYTES = 32;
const ID_BYTES = 6;

/** Throws BAD_REQUEST for a key that nobody may have. */
export function newKey(draft: KeyDraft, now: number): { key: NewKey; secret: string } {
  const { name, tenant, scopes, quotas, expiresAt } = draft;
  checkKey(draft);
  const secret = `trawl_${randomBytes(KEY_BYTES).toString("base64url")}`;
  const id = `k${randomBytes(ID_BYTES).toString("hex")}`;
  const key = { id, hash: hashOfKey(secret), name, tenant, scopes: [...new Set(scopes)], quotas, expiresAt };
  return { key: { ...key, createdAt: now }, secret };
}

/** Throws BAD_REQUEST. */
export function checkKey(draft: Pick<KeyDraft, "tenant" | "scopes">): void {
  const problem = keyProblem(draft);
  if (problem !== undefined) throw new TrawlError("BAD_REQUEST", { op: "keys.check", message: problem });
}

/**
 * As it is kept, and looked up by. Plain SHA-256: salts and slow hashes are for what people can remember. Looking it up
 * takes longer or shorter by the hash, of which nobody chooses a part.
 */
export function hashOfKey(secret: string): string {
  return hash("sha256", secret);
}
