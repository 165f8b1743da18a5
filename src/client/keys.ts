/** Keys of a server: who may ask it, for what. All of it takes the scope admin. */
import type { KeyOut } from "../api/wire-keys.ts";
import { listAll, type Signal } from "./listing.ts";
import type { Requests } from "./requests.ts";

type Quotas = { [Name in keyof KeyOut["quotas"]]?: number | null };

export type NewKey = {
  name: string;
  scopes: KeyOut["scopes"];
  /** Whose jobs it sees; null, or left out: everybody's. */
  tenant?: string | null;
  expiresAt?: string | null;
  quotas?: Quotas;
};

/** A key as it was made: `key` itself is shown this once. */
export type MadeKey = KeyOut & { key: string };

export type Keys = {
  /** Oldest first; revoked and expired ones, too. */
  list(options?: Signal): AsyncGenerator<KeyOut, void>;
  get(id: string, options?: Signal): Promise<KeyOut>;
  add(key: NewKey, options?: Signal): Promise<MadeKey>;
  /** What is left out stays; quotas are replaced whole. */
  change(id: string, change: Partial<Omit<NewKey, "tenant">>, options?: Signal): Promise<KeyOut>;
  /** For good. */
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
