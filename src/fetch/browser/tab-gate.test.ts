import { describe, expect, it } from "vitest";
import { createTabGate } from "./tab-gate.ts";

const never = new AbortController().signal;

describe("the tab gate", () => {
  it("admits as many tasks as there are tabs, and the next one in order when a task leaves", async () => {
    const gate = createTabGate({ tabs: 2 });
    const order: number[] = [];
    const enter = (nth: number) =>
      gate.enter("shared", never).then((leave) => {
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

  it("gives all tabs to a task that runs alone, after the current tasks have left", async () => {
    const gate = createTabGate({ tabs: 2 });
    const order: string[] = [];
    const leave = await gate.enter("shared", never);
    const alone = gate.enter("alone", never).then((out) => {
      order.push("alone");
      return out;
    });
    const after = gate.enter("shared", never).then(() => order.push("after"));
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

  it("removes an aborted task from the queue and admits the next one", async () => {
    const gate = createTabGate({ tabs: 2 });
    await gate.enter("shared", never);
    const giving = new AbortController();
    const alone = gate.enter("alone", giving.signal);
    const behind = gate.enter("shared", never);

    giving.abort(new Error("enough"));

    await expect(alone).rejects.toThrow("enough");
    await behind;
    await expect(gate.enter("alone", giving.signal)).rejects.toThrow("enough");
  });
});

/** Resolves after all pending promise callbacks have run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
