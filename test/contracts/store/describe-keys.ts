/** The contract of every store of API keys and job owners. */
import { beforeEach, describe, expect, it } from "vitest";
import { NO_QUOTAS } from "../../../src/domain/api-key.ts";
import type { HashedKey } from "../../../src/store/key-store.ts";
import { type ControlStoresFixture, type OpenControlStores, withControlStores } from "./control-stores.ts";

function aKey(id: string, more: Partial<HashedKey> = {}): HashedKey {
  return {
    id,
    hash: `hash-of-${id}`,
    name: `name of ${id}`,
    tenant: undefined,
    scopes: ["read"],
    quotas: NO_QUOTAS,
    createdAt: 1_000.5,
    expiresAt: undefined,
    ...more,
  };
}

export function describeKeys(name: string, prepare: () => Promise<ControlStoresFixture>): void {
  const open = withControlStores(prepare);
  let stores: OpenControlStores;
  beforeEach(async () => {
    stores = await open();
  });

  describe(`key store contract on ${name}`, () => {
    it("returns a key as it was added, by its id and by its hash, in every process", async () => {
      const quotas = { pending: 1_000, urlsPerSecond: 2.5, jobs: 3 };
      const { hash, ...key } = aKey("k1", { tenant: "a", scopes: ["read", "submit"], quotas, expiresAt: 9_000 });
      await stores.keys.add({ hash, ...key });

      const found = { ...key, lastUsedAt: undefined, revokedAt: undefined };
      const other = await open();
      expect(await other.keys.find("k1")).toEqual(found);
      expect(await other.keys.findByHash(hash)).toEqual(found);
      expect(await other.keys.findByHash("k1")).toBeUndefined();
      expect(await other.keys.find(hash)).toBeUndefined();
    });

    it("returns whether a key was ever added, even if all are revoked", async () => {
      expect(await stores.keys.hasAny()).toBe(false);
      await stores.keys.add(aKey("k1"));
      await stores.keys.revoke("k1", 2_000);

      expect(await stores.keys.hasAny()).toBe(true);
    });

    it("refuses a second key with the same id or the same hash", async () => {
      await stores.keys.add(aKey("k1"));

      await expect(stores.keys.add(aKey("k1", { hash: "another" }))).rejects.toThrow();
      await expect(stores.keys.add(aKey("k2", { hash: "hash-of-k1" }))).rejects.toThrow();
      expect(await stores.keys.list(10)).toHaveLength(1);
    });

    it("lists keys in the order they were added, page by page", async () => {
      for (const id of ["k3", "k1", "k2"]) await stores.keys.add(aKey(id));

      const first = await stores.keys.list(2);
      const rest = await stores.keys.list(2, first.at(-1)?.id);

      expect([...first, ...rest].map(({ id }) => id)).toEqual(["k3", "k1", "k2"]);
    });

    it("changes the given fields and no others", async () => {
      await stores.keys.add(aKey("k1", { expiresAt: 9_000, tenant: "a" }));

      const changed = await stores.keys.change("k1", { scopes: ["submit"], quotas: { ...NO_QUOTAS, jobs: 1 } });
      const withoutExpiry = await stores.keys.change("k1", { expiresAt: undefined });

      expect(changed).toMatchObject({ scopes: ["submit"], quotas: { jobs: 1 }, expiresAt: 9_000, tenant: "a" });
      expect(withoutExpiry).toEqual({ ...changed, expiresAt: undefined });
      expect(await stores.keys.change("k9", { name: "x" })).toBeUndefined();
    });

    it("revokes a key once", async () => {
      await stores.keys.add(aKey("k1"));

      expect(await stores.keys.revoke("k1", 2_000)).toMatchObject({ revokedAt: 2_000 });
      expect(await stores.keys.revoke("k1", 3_000)).toMatchObject({ revokedAt: 2_000 });
      expect(await stores.keys.revoke("k9", 3_000)).toBeUndefined();
    });

    it("records the last use, and ignores an earlier time", async () => {
      await stores.keys.add(aKey("k1"));
      await stores.keys.touch("k1", 5_000);
      await stores.keys.touch("k1", 4_000);

      expect(await stores.keys.find("k1")).toMatchObject({ lastUsedAt: 5_000 });
    });

    it("grants the tokens in the bucket, returns the time of the next one, and refills the bucket", async () => {
      await stores.keys.add(aKey("k1"));
      const at = (now: number) => ({ perSecond: 10, capacity: 20, now });

      expect(await stores.keys.takeTokens("k1", 15, at(100_000))).toMatchObject({ granted: 15 });
      expect(await stores.keys.takeTokens("k1", 15, at(100_000))).toEqual({ granted: 5, nextAt: 100_100 });
      expect(await stores.keys.takeTokens("k1", 15, at(100_050))).toEqual({ granted: 0, nextAt: 100_100 });
      expect(await stores.keys.takeTokens("k1", 0, at(100_050))).toEqual({ granted: 0, nextAt: 100_100 });
      expect(await stores.keys.takeTokens("k1", 0, at(100_100))).toEqual({ granted: 0, nextAt: 100_100 });
      expect(await stores.keys.takeTokens("k1", 15, at(100_100))).toMatchObject({ granted: 1 });
      await stores.keys.returnTokens("k1", 7, at(100_100));
      expect(await stores.keys.takeTokens("k1", 15, at(100_100))).toMatchObject({ granted: 7 });
      // The bucket never contains more than its capacity.
      expect(await stores.keys.takeTokens("k1", 100, at(900_000))).toMatchObject({ granted: 20 });
    });

    it("grants no more tokens than the bucket contains, however many callers are concurrent", async () => {
      await stores.keys.add(aKey("k1"));
      const handles = [stores, await open(), await open()];
      const bucket = { perSecond: 1, capacity: 50, now: 100_000 };

      const draws = handles.flatMap((handle) =>
        Array.from({ length: 10 }, () => handle.keys.takeTokens("k1", 7, bucket)),
      );
      const granted = (await Promise.all(draws)).map((draw) => draw.granted);

      expect(granted.reduce((sum, count) => sum + count, 0)).toBe(50);
    });
  });

  describe(`job owners contract on ${name}`, () => {
    it("lists the jobs of an owner, newest first, however many others there are", async () => {
      for (let nth = 0; nth < 30; nth++) await stores.owners.add("b", `b${nth}`, nth, undefined);
      for (const id of ["a1", "a2", "a3"]) await stores.owners.add("a", id, 7, undefined);
      for (let nth = 30; nth < 60; nth++) await stores.owners.add("b", `b${nth}`, nth, undefined);

      const first = await stores.owners.list("a", 2);
      const rest = await stores.owners.list("a", 2, first.at(-1)?.n);

      expect([first, rest].map((part) => part.map(({ jobId }) => jobId))).toEqual([["a3", "a2"], ["a1"]]);
      expect(first[0]).toMatchObject({ addedAt: 7 });
      expect(await stores.owners.list("c", 2)).toEqual([]);
    });

    it("adds a job once, and refuses jobs above the limit of open jobs", async () => {
      expect(await stores.owners.add("a", "j1", 1, 2)).toBe(true);
      expect(await stores.owners.add("a", "j2", 1, 2)).toBe(true);
      expect(await stores.owners.add("a", "j3", 1, 2)).toBe(false);
      expect(await stores.owners.add("a", "j1", 1, 2)).toBe(true);
      expect(await stores.owners.add("b", "j4", 1, 2)).toBe(true);

      await stores.owners.setOpen(["j1"], false);
      expect(await stores.owners.add("a", "j3", 1, 2)).toBe(true);
      expect((await stores.owners.listOpen("a", 10)).map(({ jobId }) => jobId)).toEqual(["j2", "j3"]);
      await stores.owners.setOpen(["j1"], true);
      expect((await stores.owners.listOpen("a", 10)).map(({ jobId }) => jobId)).toEqual(["j1", "j2", "j3"]);
      await stores.owners.remove(["j1", "j2"]);
      expect((await stores.owners.list("a", 10)).map(({ jobId }) => jobId)).toEqual(["j3"]);
    });

    it("enforces the limit of open jobs, however many callers are concurrent", async () => {
      const handles = [stores, await open(), await open()];

      const additions = handles.flatMap((handle, which) =>
        Array.from({ length: 10 }, (_, nth) => handle.owners.add("a", `j${which}-${nth}`, 1, 4)),
      );

      expect((await Promise.all(additions)).filter((isAdded) => isAdded)).toHaveLength(4);
      expect(await stores.owners.listOpen("a", 100)).toHaveLength(4);
    });
  });
}
