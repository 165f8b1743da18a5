/**
 * API keys. Implementations cache nothing: a change that one instance makes applies to all instances at once. Only the
 * hash of a key is stored, never the key itself.
 */
import type { Quotas, Scope } from "../domain/api-key.ts";

export type ApiKey = {
  /** Identifies the key in lists and logs. Not secret. */
  id: string;
  name: string;
  /** The tenant whose jobs the key can access; undefined: all jobs. */
  tenant: string | undefined;
  scopes: readonly Scope[];
  quotas: Quotas;
  createdAt: number;
  expiresAt: number | undefined;
  /** Accurate to about a minute. */
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
};

export type HashedKey = Omit<ApiKey, "lastUsedAt" | "revokedAt"> & { hash: string };

type KeyChange = Partial<Pick<ApiKey, "name" | "scopes" | "quotas" | "expiresAt">>;

/** A token bucket that refills by `perSecond`, up to `capacity`. */
export type TokenBucket = { perSecond: number; capacity: number; now: number };

export interface KeyStore {
  add(key: HashedKey): Promise<void>;
  /** Whether a key was ever added. Revoked keys count, so revoking the last key does not open the API. */
  hasAny(): Promise<boolean>;
  find(id: string): Promise<ApiKey | undefined>;
  /** Also returns revoked and expired keys. */
  findByHash(hash: string): Promise<ApiKey | undefined>;
  /** All keys in the order they were added. `after` is a key id. */
  list(limit: number, after?: string): Promise<readonly ApiKey[]>;
  /** Returns undefined if there is no such key. */
  change(id: string, change: KeyChange): Promise<ApiKey | undefined>;
  /** Revokes a key permanently. The first call sets the time. Returns undefined if there is no such key. */
  revoke(id: string, at: number): Promise<ApiKey | undefined>;
  /** Updates the time of last use. An earlier time changes nothing. */
  touch(id: string, at: number): Promise<void>;

  /**
   * Takes up to `want` tokens from the key's bucket, atomically across all instances. `nextAt` is when one more token
   * is available; it is `now` if one is left. With `want` 0 it only reads.
   */
  takeTokens(id: string, want: number, bucket: TokenBucket): Promise<{ granted: number; nextAt: number }>;
  /** Returns tokens that were taken and not used. */
  returnTokens(id: string, count: number, bucket: TokenBucket): Promise<void>;
}
