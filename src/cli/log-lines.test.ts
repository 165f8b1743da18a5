import { describe, expect, it } from "vitest";
import { formatLogLine, linesTo } from "./log-lines.ts";
import type { Screen } from "./terminal.ts";

const LINE = '{"at":"2026-01-01T00:00:00.000Z","level":"warn","event":"browser.crashed","pages":3,"why":"no memory"}';

/** A screen that records what is written to stderr. */
function aScreen(isLive: boolean): { screen: Screen; written: string[] } {
  const written: string[] = [];
  return { screen: { err: (text: string) => written.push(text), isLive } as unknown as Screen, written };
}

describe("log lines", () => {
  it("are formatted as text on a terminal and unchanged in a pipe", () => {
    const [terminal, pipe] = [aScreen(true), aScreen(false)];
    for (const { screen } of [terminal, pipe]) linesTo(screen, false)({ nth: 1, group: undefined }, LINE);

    expect(terminal.written).toEqual(['warn: browser.crashed pages=3 why="no memory"\n']);
    expect(pipe.written).toEqual([`${LINE}\n`]);
  });

  it.each(["plain text", "{ not json", '{"title":"a record"}'])("leave other output unchanged: %s", (text) => {
    expect(formatLogLine(text)).toBe(text);
  });

  it("are JSON objects with --json, with the process they come from, for any output", () => {
    const { screen, written } = aScreen(false);
    const line = linesTo(screen, true);
    line({ nth: 2, group: undefined }, "Error: oh\tno");
    line({ nth: 1, group: "render" }, LINE);

    expect(written.map((text) => JSON.parse(text))).toMatchObject([
      { event: "worker.output", process: 2, text: "Error: oh\tno" },
      { event: "browser.crashed", process: 1, group: "render", pages: 3 },
    ]);
  });
});
