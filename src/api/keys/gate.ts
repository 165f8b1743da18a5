/**
 * Who sends a request. With a key anywhere, in the store or in the settings, every route but the open ones asks for one;
 * without, everybody on this machine may do everything. What the store said of a key is believed for a few seconds: so
 * long a key that was revoked through another process may still be good here.
 */
import { timingSafeEqual } from "node:crypto";
import type { FixedKey } from "../../config/key-list.ts";
import { impliedScopes, SCOPES } from "../../domain/api-key.ts";
import { TrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { ApiKey, KeyBook } from "../../store/key-book.ts";
import type { Asked, Caller } from "../route.ts";
import { hashOfKey } from "./new-key.ts";

export type Gate = {
  /** Throws UNAUTHORIZED. */
  identify(request: Pick<Asked, "headers">): Promise<Caller>;
  /** Whether everybody who reaches the server may do everything. */
  isOpen(): Promise<boolean>;
  /** The same, as last known: for what must not wait for the store. */
  wasOpen(): boolean;
  /** What is believed of a key is asked for anew: it was changed through this very process. */
  forget(keyId: string): void;
};

type Deps = { keys: Pick<KeyBook, "findByHash" | "hasAny" | "touch">; clock: Clock; log: Log };
/** `isLocal`: only this machine reaches it; otherwise it is never open. */
export type GateOptions = { fixed: readonly FixedKey[]; isLocal: boolean };

/** How long the store is believed. */
export const BELIEVED_MS = 3_000;
/** `lastUsedAt` is for people: to the minute is enough, and one write. */
const TOUCH_MS = 60_000;
const KEPT_MOST = 1_000;

const EVERYBODY: Caller = { tenant: undefined, keyId: undefined, scopes: SCOPES };

export function createGate({ keys, clock, log }: Deps, { fixed, isLocal }: GateOptions): Gate {
  const known = new Map<string, { key: ApiKey; until: number }>();
  const touched = new Map<string, number>();
  const fixedCallers = fixed.map(({ name, key, scopes, tenant }) => ({
    hash: Buffer.from(hashOfKey(key)),
    caller: { tenant, keyId: `settings:${name}`, scopes } satisfies Caller,
  }));
  let hasKeys = fixed.length > 0 || !isLocal;
  let askAgainAt = 0;

  async function isOpen(): Promise<boolean> {
    // Keys are revoked and never removed: once there is one, there is one.
    if (hasKeys || clock.now() < askAgainAt) return !hasKeys;
    hasKeys = await keys.hasAny();
    askAgainAt = clock.now() + BELIEVED_MS;
    return !hasKeys;
  }

  /** All are looked at, and each whole: how long it takes tells nothing. */
  function findFixed(hash: string): Caller | undefined {
    const sought = Buffer.from(hash);
    let found: Caller | undefined;
    for (const { hash, caller } of fixedCallers) if (timingSafeEqual(sought, hash)) found = caller;
    return found;
  }

  /** Keys that are not there are not remembered: made-up ones would drive out the others. */
  async function findKey(hash: string): Promise<ApiKey | undefined> {
    const kept = known.get(hash);
    if (kept !== undefined && clock.now() < kept.until) return kept.key;
    known.delete(hash);
    const key = await keys.findByHash(hash);
    if (key === undefined) return undefined;
    const [oldest] = known.keys();
    if (known.size >= KEPT_MOST && oldest !== undefined) known.delete(oldest);
    known.set(hash, { key, until: clock.now() + BELIEVED_MS });
    return key;
  }

  function noteUse({ id, lastUsedAt = 0 }: ApiKey): void {
    const now = clock.now();
    if (now - Math.max(lastUsedAt, touched.get(id) ?? 0) < TOUCH_MS) return;
    if (touched.size >= KEPT_MOST) touched.clear();
    touched.set(id, now);
    // A request is not worth less because nobody could write down that it came.
    keys.touch(id, now).catch((cause: unknown) => log.warn("api.touch_failed", { keyId: id, cause }));
  }

  return {
    isOpen,
    wasOpen: () => !hasKeys,
    async identify({ headers }) {
      if (await isOpen()) return EVERYBODY;
      const hash = hashOfKey(keyIn(headers));
      const caller = findFixed(hash);
      if (caller !== undefined) return caller;
      const key = await findKey(hash);
      if (key === undefined) throw refused("there is no such key here");
      checkUsable(key, clock.now());
      noteUse(key);
      const { id: keyId, tenant, scopes, quotas } = key;
      return { tenant, keyId, scopes: impliedScopes(scopes), quotas };
    },
    forget(keyId) {
      askAgainAt = 0; // it may be the first
      for (const [hash, { key }] of known) if (key.id === keyId) known.delete(hash);
    },
  };
}

function keyIn({ authorization }: Asked["headers"]): string {
  if (authorization === undefined) throw refused("no key came with the request");
  const [, key] = /^bearer +([^\s]+) *$/i.exec(String(authorization)) ?? [];
  if (key === undefined) throw refused("the header Authorization is not of the form Bearer KEY");
  return key;
}

/** Whoever holds the key may know what became of it. */
function checkUsable({ id, expiresAt, revokedAt }: ApiKey, now: number): void {
  if (revokedAt !== undefined) throw refused(`the key ${id} was revoked at ${new Date(revokedAt).toISOString()}`);
  if (expiresAt !== undefined && expiresAt <= now) {
    throw refused(`the key ${id} expired at ${new Date(expiresAt).toISOString()}`);
  }
}

function refused(problem: string): TrawlError {
  return new TrawlError("UNAUTHORIZED", {
    op: "api.identify",
    message: `${problem}; send Authorization: Bearer KEY, with one that trawl keys add has made`,
  });
}
