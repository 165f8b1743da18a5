import { Parser } from "htmlparser2";
import { describe, expect, it } from "vitest";
import { barChart } from "./bar-chart.mjs";

function elementsOf(svg, wanted) {
  const found = [];
  const parser = new Parser(
    { onopentag: (name, attributes) => name === wanted && found.push(attributes) },
    { xmlMode: true },
  );
  parser.end(svg);
  return found;
}

const BARS = [
  { label: "Trawl", value: 100, min: 90, max: 100, text: "100", isOurs: true },
  { label: "other", value: 25, text: "25", isOurs: false, limit: 50 },
  { label: "third", text: "no <binary> here", isOurs: false },
];
const svg = barChart({ title: 'Pages & "speed"', groups: [{ title: "one site", bars: BARS }] });

describe("a bar chart", () => {
  it("has bars in proportion to their values, in the colour of their kind", () => {
    const [ours, theirs, ...more] = elementsOf(svg, "rect");

    expect(Number(theirs.width) / Number(ours.width)).toBeCloseTo(0.25, 2);
    expect([ours.class, theirs.class]).toEqual(["ours", "theirs"]);
    expect(more).toEqual([]);
  });

  it("marks the range of a bar, and its limit on the same scale", () => {
    const [ours] = elementsOf(svg, "rect");
    const [limit] = elementsOf(svg, "line").filter((line) => line.class === "limit");

    expect(elementsOf(svg, "path").map(({ class: name }) => name)).toEqual(["range"]);
    expect((Number(limit.x1) - Number(ours.x)) / Number(ours.width)).toBeCloseTo(0.5, 2);
  });

  it("has one scale for all groups, or one for each", () => {
    const groups = [10, 1_000].map((value) => ({ bars: [{ label: "a", value, text: String(value) }] }));
    const widthsOf = (options) =>
      elementsOf(barChart({ title: "t", groups, ...options }), "rect").map(({ width }) => width);
    const [small, large] = widthsOf({});
    const [first, second] = widthsOf({ isScaledByGroup: true });

    expect(Number(small)).toBeLessThan(Number(large) / 50);
    expect(first).toBe(second);
  });

  it("shows the reason of a bar without a value, and escapes text", () => {
    expect(svg).toContain("no &lt;binary&gt; here");
    expect(svg).toContain('aria-label="Pages &amp; &quot;speed&quot;"');
  });

  it("has colours for light and dark pages, no background and no script", () => {
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(elementsOf(svg, "script")).toEqual([]);
    expect(elementsOf(svg, "rect")).toHaveLength(2);
  });

  it("draws nothing wider than the picture", () => {
    const [{ width }] = elementsOf(svg, "svg");
    for (const { x, width: barWidth } of elementsOf(svg, "rect")) {
      expect(Number(x) + Number(barWidth)).toBeLessThanOrEqual(Number(width));
    }
  });

  it("can have only zeros", () => {
    expect(barChart({ title: "none", groups: [{ bars: [{ label: "a", value: 0, text: "0" }] }] })).not.toContain("NaN");
  });
});
