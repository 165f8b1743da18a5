import { describe, expect, it } from "vitest";
import { createTabGate } from "./tab-gate.ts";

const never = new AbortController().signal;

describe("the gate to the tabs", () => {
  it("lets in as many as there are tabs, and the next when one leaves, in order", async () => {
    const gate = createTabGate({ tabs: 2 });
    const order: number[] = [];
    const enter = (nth: number) =>
      gate.enter("beside-others", never).then((leave) => {
        order.push(nth);
        return leave;
      });
    const [first] = await Promise.all([enter(1), enter(2)]);
    const third = enter(3);
    const fourth = enter(4);
    await settled();
    expect(order).toEqual([1, 2]);

    first();
    first();
    await third;
    await settled();

    expect(order).toEqual([1, 2, 3]);
    (await third)();
    await fourth;
  });

  it("gives one that wants to be alone all the room, after those that are in", async () => {
    const gate = createTabGate({ tabs: 2 });
    const order: string[] = [];
    const leave = await gate.enter("beside-others", never);
    const alone = gate.enter("alone", never).then((out) => {
      order.push("alone");
      return out;
    });
    const after = gate.enter("beside-others", never).then(() => order.push("after"));
    await settled();
    expect(order).toEqual([]);

    leave();
    const leaveAlone = await alone;
    await settled();
    expect(order).toEqual(["alone"]);

    leaveAlone();
    await after;
    expect(order).toEqual(["alone", "after"]);
  });

  it("forgets who gives up waiting, and lets those behind go on", async () => {
    const gate = createTabGate({ tabs: 2 });
    await gate.enter("beside-others", never);
    const giving = new AbortController();
    const alone = gate.enter("alone", giving.signal);
    const behind = gate.enter("beside-others", never);

    giving.abort(new Error("enough"));

    await expect(alone).rejects.toThrow("enough");
    await behind;
    await expect(gate.enter("alone", giving.signal)).rejects.toThrow("enough");
  });
});

/** What is due without waiting has happened. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
