import { describe, expect, it } from "vitest";

type Run = { text: string; colour: string | undefined; isBold: boolean; isDim: boolean };
type Renderer = {
  parseAnsi(line: string): Run[];
  renderSvg(film: { frames: { screen: string; ms: number }[]; columns: number; title: string }): string;
};

const { parseAnsi, renderSvg } = (await import(new URL("./ansi-svg.mjs", import.meta.url).href)) as Renderer;
const ESC = "\x1b";

describe("the recording of a terminal", () => {
  it("reads colours and weights from escape codes, and ignores other codes", () => {
    const runs = parseAnsi(`${ESC}[2K${ESC}[1m12 pages${ESC}[0;2m · ${ESC}[0m${ESC}[31mfailed${ESC}[39m.`);

    expect(runs.map(({ text, isBold, isDim, colour }) => [text, isBold, isDim, colour !== undefined])).toEqual([
      ["12 pages", true, false, false],
      [" · ", false, true, false],
      ["failed", false, false, true],
      [".", false, false, false],
    ]);
  });

  it("has no script and no external reference, and escapes every character", () => {
    const svg = renderSvg({ frames: [{ screen: '$ a <b> & "c"\n', ms: 100 }], columns: 20, title: "a > b" });

    expect(svg).toContain("$ a &lt;b&gt; &amp; &quot;c&quot;");
    expect(svg).not.toMatch(/<script|<foreignObject|(?:href|src)="(?!#)|url\(/);
  });

  it("defines a repeated line once, and shows the last frame without animation", () => {
    const frames = ["$ go\n0%", "$ go\n50%", "$ go\n100%"].map((screen) => ({ screen, ms: 100 }));
    const svg = renderSvg({ frames, columns: 20, title: "t" });

    expect(svg.match(/\$ go/g)).toHaveLength(1);
    expect(svg.match(/<use /g)).toHaveLength(6);
    expect(svg).toMatch(/\.film\{transform:translateY\(-76px\)/);
  });
});
