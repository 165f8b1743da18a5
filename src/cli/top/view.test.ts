import { describe, expect, it } from "vitest";
import { readKeys } from "./read-keys.ts";
import { FIRST_VIEW, press, type ScreenContents, type View } from "./view.ts";

const SHOWN: ScreenContents = {
  counts: { jobs: 3, queues: 1, sites: 0, workers: 2 },
  job: { id: "j1", name: "shop", state: "running" },
};

/** The view after these keys, and the action of the last one. */
function pressing(input: string, shown = SHOWN, from = FIRST_VIEW): ReturnType<typeof press> {
  return readKeys(input).reduce<ReturnType<typeof press>>(({ view }, key) => press(view, key, shown), { view: from });
}

describe("keys of trawl top", () => {
  it.each([
    ["q", "quit"],
    ["\x1b", "quit"],
    ["\x03", "quit"],
    ["/abc\x03", "quit"],
    ["?\x1bq", "quit"],
    ["/abc\x1b", undefined],
    ["/abc\r\x1b", undefined],
    ["/q", undefined],
    ["\x0c", "redraw"],
  ])("%j triggers %s", (input, kind) => {
    expect(pressing(input).action?.kind).toBe(kind);
  });

  it("move between panels and rows, and stay within them", () => {
    const at = ({ panel, selected }: View) => [panel, selected[panel]];
    expect(at(pressing("\x1b[Bj").view)).toEqual(["jobs", 2]);
    expect(at(pressing("\x1b[B\x1b[B\x1b[B\x1b[B\x1b[B").view)).toEqual(["jobs", 2]);
    expect(at(pressing("\x1b[6~k\x1b[H\x1b[A").view)).toEqual(["jobs", 0]);
    expect(at(pressing("\t\tj").view)).toEqual(["sites", 0]);
    expect(at(pressing("\x1b[Z\x1b[F").view)).toEqual(["workers", 1]);
    expect(pressing("ssss").view.orderIndex.jobs).toBe(0);
  });

  it("edit the filter, and ignore unknown escape sequences", () => {
    expect(pressing("/sh\x7fx\x1b[24~\x01\r").view).toMatchObject({ filter: "sx", isTyping: false });
    expect(pressing("/sx\r\x1b").view.filter).toBe("");
  });

  it("pause or resume a job after confirmation", () => {
    const question = { verb: "pause", id: "j1", name: "shop" };
    expect(pressing("p").view.question).toEqual(question);
    expect(pressing("py").action).toEqual({ kind: "control", question });
    expect(pressing("pn").view).toMatchObject({ question: undefined, notice: "nothing changed" });
    const paused = { ...SHOWN, job: { id: "j1", name: "shop", state: "paused" } };
    expect(pressing("pp", paused).action).toMatchObject({ question: { verb: "resume" } });
    const ended = { ...SHOWN, job: { id: "j1", name: "shop", state: "finished" } };
    expect(pressing("p", ended).view.notice).toContain("has ended");
    expect(pressing("\tp").view.notice).toContain("select a job first");
  });
});
