/**
 * The keys of the API. Instances of it keep nothing themselves: a key that is added, changed or revoked through one is so
 * for all of them. The key itself is nowhere, only its hash.
 */
import type { Quotas, Scope } from "../domain/api-key.ts";

export type ApiKey = {
  /** Names it in lists and logs; no secret. */
  id: string;
  name: string;
  /** Whose jobs it sees; undefined: everybody's. */
  tenant: string | undefined;
  scopes: readonly Scope[];
  quotas: Quotas;
  createdAt: number;
  expiresAt: number | undefined;
  /** To the minute or so. */
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
};

export type NewKey = Omit<ApiKey, "lastUsedAt" | "revokedAt"> & { hash: string };

export type KeyChange = Partial<Pick<ApiKey, "name" | "scopes" | "quotas" | "expiresAt">>;

/** A bucket that fills by `perSecond` and holds `holds`. */
export type Bucket = { perSecond: number; holds: number; now: number };

export interface KeyBook {
  add(key: NewKey): Promise<void>;
  /** Whether there has ever been one: revoked keys count, so that revoking the last one opens nothing. */
  hasAny(): Promise<boolean>;
  find(id: string): Promise<ApiKey | undefined>;
  /** Revoked and expired ones, too. */
  findByHash(hash: string): Promise<ApiKey | undefined>;
  /** In the order they were added, all of them; `after` is an id. */
  list(limit: number, after?: string): Promise<readonly ApiKey[]>;
  /** Undefined where there is no such key. */
  change(id: string, change: KeyChange): Promise<ApiKey | undefined>;
  /** For good; the first time counts. Undefined where there is no such key. */
  revoke(id: string, at: number): Promise<ApiKey | undefined>;
  /** Notes that it was used; never goes back. */
  touch(id: string, at: number): Promise<void>;

  /**
   * Takes up to `want` out of the key's bucket, whole ones, in one step for all instances. `nextAt` is when there is one
   * more: now, if there is; to ask for none is to look.
   */
  draw(id: string, want: number, bucket: Bucket): Promise<{ granted: number; nextAt: number }>;
  /** Puts back what was drawn and not used. */
  putBack(id: string, count: number, bucket: Bucket): Promise<void>;
}
