/**
 * Identifies the caller of a request. If a key exists, in the store or in the settings, every route except the open
 * ones requires a key. Without keys, every process on this machine has full access. Keys are cached for a few seconds,
 * so a key that another process has revoked is still accepted for that time.
 */
import { timingSafeEqual } from "node:crypto";
import type { FixedKey } from "../config/key-list.ts";
import type { Caller } from "../control/caller.ts";
import { hashOfKey } from "../control/new-key.ts";
import { impliedScopes, SCOPES } from "../domain/api-key.ts";
import { TrawlError } from "../errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { ApiKey, KeyStore } from "../store/key-store.ts";
import type { ApiRequest } from "./route.ts";

export type Authenticator = {
  /** Throws UNAUTHORIZED. */
  identify(request: Pick<ApiRequest, "headers">): Promise<Caller>;
  /** Whether the server requires no key. */
  isOpen(): Promise<boolean>;
  /** The last known value of `isOpen`, without a read from the store. */
  wasOpen(): boolean;
  /** Removes a key from the cache. Called when this process has changed the key. */
  forget(keyId: string): void;
};

type Deps = { keys: Pick<KeyStore, "findByHash" | "hasAny" | "touch">; clock: Clock; log: Log };
/** `isLocal`: the server listens on a loopback address. Otherwise it is never open. */
type AuthenticatorOptions = { fixed: readonly FixedKey[]; isLocal: boolean };

/** How long keys are cached. */
const CACHED_MS = 3_000;
/** `lastUsedAt` is written at most once per minute. */
const TOUCH_MS = 60_000;
const MAX_CACHE = 1_000;

const UNAUTHENTICATED: Caller = { tenant: undefined, keyId: undefined, scopes: SCOPES };

export function createAuthenticator(
  { keys, clock, log }: Deps,
  { fixed, isLocal }: AuthenticatorOptions,
): Authenticator {
  const known = new Map<string, { key: ApiKey; until: number }>();
  const touched = new Map<string, number>();
  const fixedCallers = fixed.map(({ name, key, scopes, tenant }) => ({
    hash: Buffer.from(hashOfKey(key)),
    caller: { tenant, keyId: `settings:${name}`, scopes } satisfies Caller,
  }));
  let hasKeys = fixed.length > 0 || !isLocal;
  let checkAgainAt = 0;

  async function isOpen(): Promise<boolean> {
    // Keys are revoked but never removed, so `hasKeys` never becomes false again.
    if (hasKeys || clock.now() < checkAgainAt) return !hasKeys;
    hasKeys = await keys.hasAny();
    checkAgainAt = clock.now() + CACHED_MS;
    return !hasKeys;
  }

  /** Finds a key of the settings. Compares with every key, so that the time does not depend on which key matches. */
  function findFixed(hash: string): Caller | undefined {
    const given = Buffer.from(hash);
    let found: Caller | undefined;
    for (const { hash, caller } of fixedCallers) if (timingSafeEqual(given, hash)) found = caller;
    return found;
  }

  /** Finds a key of the store. Unknown keys are not cached: invalid keys could otherwise evict valid ones. */
  async function findKey(hash: string): Promise<ApiKey | undefined> {
    const kept = known.get(hash);
    if (kept !== undefined && clock.now() < kept.until) return kept.key;
    known.delete(hash);
    const key = await keys.findByHash(hash);
    if (key === undefined) return undefined;
    const [oldest] = known.keys();
    if (known.size >= MAX_CACHE && oldest !== undefined) known.delete(oldest);
    known.set(hash, { key, until: clock.now() + CACHED_MS });
    return key;
  }

  function recordUse({ id, lastUsedAt = 0 }: ApiKey): void {
    const now = clock.now();
    if (now - Math.max(lastUsedAt, touched.get(id) ?? 0) < TOUCH_MS) return;
    if (touched.size >= MAX_CACHE) touched.clear();
    touched.set(id, now);
    // The request continues if this write fails.
    keys.touch(id, now).catch((cause: unknown) => log.warn("api.touch_failed", { keyId: id, cause }));
  }

  return {
    isOpen,
    wasOpen: () => !hasKeys,
    async identify({ headers }) {
      if (await isOpen()) return UNAUTHENTICATED;
      const hash = hashOfKey(keyIn(headers));
      const caller = findFixed(hash);
      if (caller !== undefined) return caller;
      const key = await findKey(hash);
      if (key === undefined) throw refused("the key is unknown");
      checkUsable(key, clock.now());
      recordUse(key);
      const { id: keyId, tenant, scopes, quotas } = key;
      return { tenant, keyId, scopes: impliedScopes(scopes), quotas };
    },
    forget(keyId) {
      checkAgainAt = 0; // it may be the first key
      for (const [hash, { key }] of known) if (key.id === keyId) known.delete(hash);
    },
  };
}

function keyIn({ authorization }: ApiRequest["headers"]): string {
  if (authorization === undefined) throw refused("the request has no key");
  const [, key] = /^bearer +([^\s]+) *$/i.exec(String(authorization)) ?? [];
  if (key === undefined) throw refused("the header Authorization is not of the form Bearer KEY");
  return key;
}

/** The caller has sent the secret of this key, so the message may contain its state. */
function checkUsable({ id, expiresAt, revokedAt }: ApiKey, now: number): void {
  if (revokedAt !== undefined) throw refused(`the key ${id} was revoked at ${new Date(revokedAt).toISOString()}`);
  if (expiresAt !== undefined && expiresAt <= now) {
    throw refused(`the key ${id} expired at ${new Date(expiresAt).toISOString()}`);
  }
}

function refused(problem: string): TrawlError {
  return new TrawlError("UNAUTHORIZED", {
    op: "api.identify",
    message: `${problem}; send Authorization: Bearer KEY, with a key created by trawl keys add`,
  });
}
