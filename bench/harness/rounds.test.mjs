import { describe, expect, it } from "vitest";
import { runRounds } from "./rounds.mjs";

const signal = new AbortController().signal;
const read = ({ figures }) => String(figures.perS.median);

function aContestant(label, prepare = async () => `${label} 1.0`) {
  return { label, prepare };
}

/** Two groups, whose runs are recorded in `order`. */
function stage(run = async () => ({ figures: { perS: 1 }, notes: [] })) {
  const order = [];
  const groupOf = (name, contestants) => ({
    contestants,
    columns: [{ heading: "per s", read }],
    run: (contestant) => {
      order.push(`${name} ${contestant}`);
      return run(contestant);
    },
  });
  const [a, b] = [aContestant("A"), aContestant("B")];
  const missing = aContestant("C", async () => {
    throw new Error("cannot be installed");
  });
  return {
    order,
    groups: { x: groupOf("x", { a, b }), y: groupOf("y", { a, missing }) },
  };
}

function runAll({ groups }, options) {
  const all = { only: ["x", "y"], contestants: ["a", "b", "missing"], rounds: 2, ...options };
  return runRounds({ options: all, groups, signal, print: () => {} });
}

describe("the rounds of the benchmark", () => {
  it("let the contestants take turns, in the opposite order in every second round", async () => {
    const set = stage();

    await runAll(set);

    expect(set.order).toEqual(["x a", "x b", "y a", "x b", "x a", "y a"]);
  });

  it("run only the selected groups and contestants", async () => {
    const set = stage();

    await runAll(set, { only: ["x"], contestants: ["b"], rounds: 1 });

    expect(set.order).toEqual(["x b"]);
  });

  it("skip a contestant that cannot run, with the reason", async () => {
    const { runs, versions } = await runAll(stage(), { rounds: 1 });

    expect(runs.filter(({ isSkipped }) => isSkipped)).toMatchObject([
      { group: "y", contestant: "missing", problem: "cannot be installed" },
    ]);
    expect(versions).toEqual({ A: "A 1.0", B: "B 1.0" });
  });

  it("continue after a run that failed", async () => {
    const set = stage(async (contestant) => {
      if (contestant === "a") throw new Error("nginx did not start");
      return { figures: { perS: 2 }, notes: [] };
    });

    const { runs } = await runAll(set, { only: ["x"], rounds: 1 });

    expect(runs).toMatchObject([{ problem: "nginx did not start" }, { figures: { perS: 2 } }]);
  });
});
