import { describe, expect, it } from "vitest";
import { spread } from "./spread.mjs";
import { summarise, tableOf } from "./summary.mjs";

function aRun(contestant, perS, more = {}) {
  return { group: "one", contestant, round: 1, figures: { perS }, notes: [], ...more };
}

const FAILED = { group: "one", contestant: "trawl", round: 2, problem: "missed 5 of 20 pages\nmore", notes: [] };
const DEFINITION = {
  contestants: { trawl: { label: "Trawl" }, peer: { label: "Peer" } },
  columns: [
    { heading: "pages/s", read: ({ figures }) => String(figures.perS.median) },
    { heading: "never", read: () => undefined },
  ],
};

describe("summaries of runs", () => {
  it("have the middle value of an odd number of runs, and the mean of the two middle values of an even number", () => {
    expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(spread([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4 });
  });

  it("exclude the figures of failed runs, and count them", () => {
    const [entry] = summarise([aRun("trawl", 10), FAILED, aRun("trawl", 30)]);

    expect(entry).toMatchObject({ runs: 3, failed: 1, figures: { perS: { median: 20, min: 10, max: 30 } } });
  });

  it("have the first line of the reason if no run has figures", () => {
    expect(summarise([FAILED])[0]).toMatchObject({ failed: 1, reason: "missed 5 of 20 pages" });
    expect(summarise([FAILED])[0].figures).toBeUndefined();
  });
});

describe("the table of a group", () => {
  it("shows figures, reasons and notes, and leaves out columns without a value", () => {
    const skipped = { group: "one", contestant: "peer", round: 0, problem: "cannot be installed", isSkipped: true };
    const summary = summarise([aRun("trawl", 10), FAILED, skipped, aRun("gone", 3, { group: "two" })]);

    expect(tableOf("one", DEFINITION, summary)).toEqual([
      ["", "pages/s", "remarks"],
      ["Trawl", "10", "failed 1 of 2"],
      ["Peer", "-", "cannot be installed"],
    ]);
  });

  it("has no remarks if there is nothing to say", () => {
    expect(tableOf("one", DEFINITION, summarise([aRun("peer", 7)]))).toEqual([
      ["", "pages/s"],
      ["Peer", "7"],
    ]);
  });
});
