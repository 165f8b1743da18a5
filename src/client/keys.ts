/** The API keys of a server. Requires the scope admin. */

import { listAll, type Signal } from "./listing.ts";
import type { Requests } from "./requests.ts";
import type { KeyOut } from "./wire-types.ts";

type Quotas = { [Name in keyof KeyOut["quotas"]]?: number | null };

export type NewKey = {
  name: string;
  scopes: KeyOut["scopes"];
  /** The key sees only the jobs of this tenant. Null or missing: all jobs. */
  tenant?: string | null;
  expiresAt?: string | null;
  quotas?: Quotas;
};

/** A new key. The secret `key` is returned only here. */
export type MadeKey = KeyOut & { key: string };

export type Keys = {
  /** Oldest first, including revoked and expired keys. */
  list(options?: Signal): AsyncGenerator<KeyOut, void>;
  get(id: string, options?: Signal): Promise<KeyOut>;
  add(key: NewKey, options?: Signal): Promise<MadeKey>;
  /** Missing fields are not changed; quotas are replaced as a whole. */
  change(id: string, change: Partial<Omit<NewKey, "tenant">>, options?: Signal): Promise<KeyOut>;
  /** Cannot be undone. */
  revoke(id: string, options?: Signal): Promise<KeyOut>;
};

export function createKeys(requests: Requests): Keys {
  const at = (id: string) => `/v1/keys/${encodeURIComponent(id)}`;
  return {
    list: (options) => listAll(requests, "/v1/keys", "keys", options),
    get: (id, { signal } = {}) => requests.json(at(id), { signal }),
    add: (body, { signal } = {}) => requests.json("/v1/keys", { method: "POST", body, signal, isOnce: true }),
    change: (id, body, { signal } = {}) => requests.json(at(id), { method: "PATCH", body, signal }),
    revoke: (id, { signal } = {}) => requests.json(at(id), { method: "DELETE", signal }),
  };
}
