import { describe, expect, it } from "vitest";
import { inWords, linesTo } from "./log-lines.ts";
import type { Screen } from "./terminal.ts";

const LINE = '{"at":"2026-01-01T00:00:00.000Z","level":"warn","event":"browser.crashed","pages":3,"why":"no memory"}';

/** A screen that keeps what it is told. */
function aScreen(isLive: boolean): { screen: Screen; told: string[] } {
  const told: string[] = [];
  return { screen: { err: (text: string) => told.push(text), isLive } as unknown as Screen, told };
}

describe("log lines", () => {
  it("are words for a person at a terminal, and as they are elsewhere", () => {
    const [terminal, pipe] = [aScreen(true), aScreen(false)];
    for (const { screen } of [terminal, pipe]) linesTo(screen, false)({ nth: 1, group: undefined }, LINE);

    expect(terminal.told).toEqual(['warn: browser.crashed pages=3 why="no memory"\n']);
    expect(pipe.told).toEqual([`${LINE}\n`]);
  });

  it.each(["plain text", "{ not json", '{"title":"a record of somebody"}'])("are not made of %s", (text) => {
    expect(inWords(text)).toBe(text);
  });

  it("are objects for a machine, whatever a process prints, and say whose they are", () => {
    const { screen, told } = aScreen(false);
    const line = linesTo(screen, true);
    line({ nth: 2, group: undefined }, "Error: oh\tno");
    line({ nth: 1, group: "render" }, LINE);

    expect(told.map((text) => JSON.parse(text))).toMatchObject([
      { event: "worker.said", process: 2, text: "Error: oh\tno" },
      { event: "browser.crashed", process: 1, group: "render", pages: 3 },
    ]);
  });
});
