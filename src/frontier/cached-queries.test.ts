import { expect, it } from "vitest";
import { withCachedQueries } from "./cached-queries.ts";
import type { DeadGroups, FrontierAdmin } from "./frontier-admin.ts";

const OPTIONS = { reuseFactor: 20, maxAgeMs: 30_000, maxEntries: 2 };

it("runs a query once for concurrent callers, and again when its result is too old", async () => {
  const { frontier, queries, reply, clock } = aBroker();
  const [one, other] = [frontier.groupDead({}, 5), frontier.groupDead({}, 5)];
  void frontier.groupDead({ site: "a.test" }, 5);
  expect(queries).toEqual(["[{},5]", '[{"site":"a.test"},5]']);
  clock.at = 100; // the query took this long
  reply(3);

  expect([await one, await other]).toEqual([lettersOf(3), lettersOf(3)]);
  clock.at = 100 + 20 * 100 - 1;
  expect(await frontier.groupDead({}, 5)).toEqual(lettersOf(3));
  clock.at += 1;
  void frontier.groupDead({}, 5);
  expect(queries).toHaveLength(3);
});

it("reuses neither a result from before a change nor a failure", async () => {
  const { frontier, queries, reply, fail, clock } = aBroker();
  const before = frontier.groupDead({}, 5);
  clock.at = 1_000;
  reply(3);
  await before;
  await frontier.discardDead({}, 5);
  const after = frontier.groupDead({}, 5);
  fail();

  await expect(after).rejects.toThrow("unreachable");
  void frontier.groupDead({}, 5);
  expect(queries).toHaveLength(3);
});

it("keeps at most maxEntries results", async () => {
  const { frontier, queries, reply, clock } = aBroker();
  const all = [1, 2, 3].map((limit) => frontier.groupDead({}, limit));
  clock.at = 1_000;
  for (let nth = 0; nth < 3; nth += 1) reply(nth);
  await Promise.all(all);
  void frontier.groupDead({}, 3);
  expect(queries).toHaveLength(3);
  void frontier.groupDead({}, 1);
  expect(queries).toHaveLength(4);
});

/** A broker whose replies the test controls, in the order of the queries. */
function aBroker() {
  const clock = { at: 0 };
  const queries: string[] = [];
  const open: { resolve(groups: DeadGroups): void; reject(error: Error): void }[] = [];
  const groupDead = (...args: unknown[]): Promise<DeadGroups> => {
    queries.push(JSON.stringify(args));
    return new Promise((resolve, reject) => open.push({ resolve, reject }));
  };
  const broker = { groupDead, discardDead: async () => 1 } as unknown as FrontierAdmin;
  return {
    frontier: withCachedQueries(broker, { now: () => clock.at }, OPTIONS),
    queries,
    reply: (letters: number) => open.shift()?.resolve(lettersOf(letters)),
    fail: () => open.shift()?.reject(new Error("unreachable")),
    clock,
  };
}

function lettersOf(letters: number): DeadGroups {
  return { groups: [], letters };
}
