import { expect, it } from "vitest";
import type { DeadGroups, FrontierAdmin } from "./frontier-admin.ts";
import { withSharedLooks } from "./shared-looks.ts";

const OPTIONS = { restTimes: 20, ageMostMs: 30_000, most: 2 };

it("asks once for all who ask at the same time, and again once the answer has had its time", async () => {
  const { frontier, asked, answer, clock } = aBroker();
  const [one, other] = [frontier.groupDead({}, 5), frontier.groupDead({}, 5)];
  void frontier.groupDead({ site: "a.test" }, 5);
  expect(asked).toEqual(["[{},5]", '[{"site":"a.test"},5]']);
  clock.at = 100; // so long it took
  answer(3);

  expect([await one, await other]).toEqual([lettersOf(3), lettersOf(3)]);
  clock.at = 100 + 20 * 100 - 1;
  expect(await frontier.groupDead({}, 5)).toEqual(lettersOf(3));
  clock.at += 1;
  void frontier.groupDead({}, 5);
  expect(asked).toHaveLength(3);
});

it("gives out nothing from before a change, nor a failure", async () => {
  const { frontier, asked, answer, fail, clock } = aBroker();
  const before = frontier.groupDead({}, 5);
  clock.at = 1_000;
  answer(3);
  await before;
  await frontier.discardDead({}, 5);
  const after = frontier.groupDead({}, 5);
  fail();

  await expect(after).rejects.toThrow("away");
  void frontier.groupDead({}, 5);
  expect(asked).toHaveLength(3);
});

it("remembers no more answers than it may", async () => {
  const { frontier, asked, answer, clock } = aBroker();
  const all = [1, 2, 3].map((limit) => frontier.groupDead({}, limit));
  clock.at = 1_000;
  for (let nth = 0; nth < 3; nth += 1) answer(nth);
  await Promise.all(all);
  void frontier.groupDead({}, 3);
  expect(asked).toHaveLength(3);
  void frontier.groupDead({}, 1);
  expect(asked).toHaveLength(4);
});

/** A broker that answers when it is told to, in the order it was asked. */
function aBroker() {
  const clock = { at: 0 };
  const asked: string[] = [];
  const open: { resolve(groups: DeadGroups): void; reject(error: Error): void }[] = [];
  const groupDead = (...words: unknown[]): Promise<DeadGroups> => {
    asked.push(JSON.stringify(words));
    return new Promise((resolve, reject) => open.push({ resolve, reject }));
  };
  const broker = { groupDead, discardDead: async () => 1 } as unknown as FrontierAdmin;
  return {
    frontier: withSharedLooks(broker, { now: () => clock.at }, OPTIONS),
    asked,
    answer: (letters: number) => open.shift()?.resolve(lettersOf(letters)),
    fail: () => open.shift()?.reject(new Error("away")),
    clock,
  };
}

function lettersOf(letters: number): DeadGroups {
  return { groups: [], letters };
}
