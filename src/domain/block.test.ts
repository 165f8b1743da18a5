import { describe, expect, it } from "vitest";
import { type BlockSpec, type BlockState, type BlockStep, NEVER_BLOCKED, stepAfterBlock, tierOf } from "./block.ts";

const LADDER: BlockSpec = { steps: ["wait", "session", "proxy", "proxy", "browser"], max: 10 };

/** The steps of a page that is always blocked. */
function stepsOf(spec: BlockSpec, isPossible: (step: BlockStep, state: BlockState) => boolean = () => true) {
  let state = NEVER_BLOCKED;
  for (;;) {
    const current = state;
    const next = stepAfterBlock(spec, current, (step) => isPossible(step, current));
    if (next === undefined) return state.taken;
    state = next.state;
  }
}

describe("the steps after blocks", () => {
  it("are taken in order, one after each block, and then the page fails", () => {
    expect(stepsOf(LADDER)).toEqual(LADDER.steps);
  });

  it("end so that at most `max` attempts are blocked", () => {
    for (const max of [1, 2, 3]) expect(stepsOf({ ...LADDER, max })).toHaveLength(max - 1);
    expect(stepsOf({ steps: [], max: 5 })).toEqual([]);
  });

  it("skip a step that is not possible, and a step that has become impossible", () => {
    expect(stepsOf(LADDER, (step) => step !== "session")).toEqual(["wait", "proxy", "proxy", "browser"]);
    expect(stepsOf(LADDER, (step, state) => step !== "proxy" || tierOf(state) < 1)).toEqual([
      ...["wait", "session", "proxy", "browser"],
    ]);
  });
});
