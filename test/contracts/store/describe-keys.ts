/** The contract of every backend that keeps the keys of the API, and whose a job is. */
import { beforeEach, describe, expect, it } from "vitest";
import { NO_QUOTAS } from "../../../src/domain/api-key.ts";
import type { NewKey } from "../../../src/store/key-store.ts";
import { type Books, type ControlStoresSite, withControlStores } from "./control-stores.ts";

function aKey(id: string, more: Partial<NewKey> = {}): NewKey {
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

export function describeKeys(name: string, prepare: () => Promise<ControlStoresSite>): void {
  const open = withControlStores(prepare);
  let books: Books;
  beforeEach(async () => {
    books = await open();
  });

  describe(`key book contract on ${name}`, () => {
    it("gives back a key as it was added, by its id and by its hash, to whoever opens the store", async () => {
      const quotas = { pending: 1_000, urlsPerSecond: 2.5, jobs: 3 };
      const { hash, ...key } = aKey("k1", { tenant: "a", scopes: ["read", "submit"], quotas, expiresAt: 9_000 });
      await books.keys.add({ hash, ...key });

      const found = { ...key, lastUsedAt: undefined, revokedAt: undefined };
      const other = await open();
      expect(await other.keys.find("k1")).toEqual(found);
      expect(await other.keys.findByHash(hash)).toEqual(found);
      expect(await other.keys.findByHash("k1")).toBeUndefined();
      expect(await other.keys.find(hash)).toBeUndefined();
    });

    it("knows whether there has ever been a key, also when all are revoked", async () => {
      expect(await books.keys.hasAny()).toBe(false);
      await books.keys.add(aKey("k1"));
      await books.keys.revoke("k1", 2_000);

      expect(await books.keys.hasAny()).toBe(true);
    });

    it("does not take two keys of one id, nor of one hash", async () => {
      await books.keys.add(aKey("k1"));

      await expect(books.keys.add(aKey("k1", { hash: "another" }))).rejects.toThrow();
      await expect(books.keys.add(aKey("k2", { hash: "hash-of-k1" }))).rejects.toThrow();
      expect(await books.keys.list(10)).toHaveLength(1);
    });

    it("lists keys in the order they were added, page by page", async () => {
      for (const id of ["k3", "k1", "k2"]) await books.keys.add(aKey(id));

      const first = await books.keys.list(2);
      const rest = await books.keys.list(2, first.at(-1)?.id);

      expect([...first, ...rest].map(({ id }) => id)).toEqual(["k3", "k1", "k2"]);
    });

    it("changes what it is told to, and nothing else", async () => {
      await books.keys.add(aKey("k1", { expiresAt: 9_000, tenant: "a" }));

      const changed = await books.keys.change("k1", { scopes: ["submit"], quotas: { ...NO_QUOTAS, jobs: 1 } });
      const endless = await books.keys.change("k1", { expiresAt: undefined });

      expect(changed).toMatchObject({ scopes: ["submit"], quotas: { jobs: 1 }, expiresAt: 9_000, tenant: "a" });
      expect(endless).toEqual({ ...changed, expiresAt: undefined });
      expect(await books.keys.change("k9", { name: "x" })).toBeUndefined();
    });

    it("revokes a key once", async () => {
      await books.keys.add(aKey("k1"));

      expect(await books.keys.revoke("k1", 2_000)).toMatchObject({ revokedAt: 2_000 });
      expect(await books.keys.revoke("k1", 3_000)).toMatchObject({ revokedAt: 2_000 });
      expect(await books.keys.revoke("k9", 3_000)).toBeUndefined();
    });

    it("notes the last use, and never goes back", async () => {
      await books.keys.add(aKey("k1"));
      await books.keys.touch("k1", 5_000);
      await books.keys.touch("k1", 4_000);

      expect(await books.keys.find("k1")).toMatchObject({ lastUsedAt: 5_000 });
    });

    it("gives out of a bucket what is in it, says when there is more, and fills it with time", async () => {
      await books.keys.add(aKey("k1"));
      const at = (now: number) => ({ perSecond: 10, capacity: 20, now });

      expect(await books.keys.takeTokens("k1", 15, at(100_000))).toMatchObject({ granted: 15 });
      expect(await books.keys.takeTokens("k1", 15, at(100_000))).toEqual({ granted: 5, nextAt: 100_100 });
      expect(await books.keys.takeTokens("k1", 15, at(100_050))).toEqual({ granted: 0, nextAt: 100_100 });
      expect(await books.keys.takeTokens("k1", 0, at(100_050))).toEqual({ granted: 0, nextAt: 100_100 });
      expect(await books.keys.takeTokens("k1", 0, at(100_100))).toEqual({ granted: 0, nextAt: 100_100 });
      expect(await books.keys.takeTokens("k1", 15, at(100_100))).toMatchObject({ granted: 1 });
      await books.keys.returnTokens("k1", 7, at(100_100));
      expect(await books.keys.takeTokens("k1", 15, at(100_100))).toMatchObject({ granted: 7 });
      // However long nobody asks, it holds no more than it holds.
      expect(await books.keys.takeTokens("k1", 100, at(900_000))).toMatchObject({ granted: 20 });
    });

    it("gives no more than the bucket holds, however many ask at once", async () => {
      await books.keys.add(aKey("k1"));
      const ways = [books, await open(), await open()];
      const bucket = { perSecond: 1, capacity: 50, now: 100_000 };

      const draws = ways.flatMap((way) => Array.from({ length: 10 }, () => way.keys.takeTokens("k1", 7, bucket)));
      const granted = (await Promise.all(draws)).map((draw) => draw.granted);

      expect(granted.reduce((sum, count) => sum + count, 0)).toBe(50);
    });
  });

  describe(`job owners contract on ${name}`, () => {
    it("lists the jobs of an owner, newest first, however many others there are", async () => {
      for (let nth = 0; nth < 30; nth++) await books.owners.add("b", `b${nth}`, nth, undefined);
      for (const id of ["a1", "a2", "a3"]) await books.owners.add("a", id, 7, undefined);
      for (let nth = 30; nth < 60; nth++) await books.owners.add("b", `b${nth}`, nth, undefined);

      const first = await books.owners.list("a", 2);
      const rest = await books.owners.list("a", 2, first.at(-1)?.n);

      expect([first, rest].map((part) => part.map(({ jobId }) => jobId))).toEqual([["a3", "a2"], ["a1"]]);
      expect(first[0]).toMatchObject({ addedAt: 7 });
      expect(await books.owners.list("c", 2)).toEqual([]);
    });

    it("notes a job once, and takes no more than may be open", async () => {
      expect(await books.owners.add("a", "j1", 1, 2)).toBe(true);
      expect(await books.owners.add("a", "j2", 1, 2)).toBe(true);
      expect(await books.owners.add("a", "j3", 1, 2)).toBe(false);
      expect(await books.owners.add("a", "j1", 1, 2)).toBe(true);
      expect(await books.owners.add("b", "j4", 1, 2)).toBe(true);

      await books.owners.setOpen(["j1"], false);
      expect(await books.owners.add("a", "j3", 1, 2)).toBe(true);
      expect((await books.owners.listOpen("a", 10)).map(({ jobId }) => jobId)).toEqual(["j2", "j3"]);
      await books.owners.setOpen(["j1"], true);
      expect((await books.owners.listOpen("a", 10)).map(({ jobId }) => jobId)).toEqual(["j1", "j2", "j3"]);
      await books.owners.remove(["j1", "j2"]);
      expect((await books.owners.list("a", 10)).map(({ jobId }) => jobId)).toEqual(["j3"]);
    });

    it("lets no more through than may be open, however many come at once", async () => {
      const ways = [books, await open(), await open()];

      const notes = ways.flatMap((way, which) =>
        Array.from({ length: 10 }, (_, nth) => way.owners.add("a", `j${which}-${nth}`, 1, 4)),
      );

      expect((await Promise.all(notes)).filter((isNoted) => isNoted)).toHaveLength(4);
      expect(await books.owners.listOpen("a", 100)).toHaveLength(4);
    });
  });
}
