import pc from "picocolors";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../frontier/frontier-admin.ts";
import { showFindings } from "./show-findings.ts";

type Screen = Parameters<typeof showFindings>[1];
const wide = (columns: number) =>
  ({ paint: pc.createColors(false), outColumns: () => columns, command: "npx trawl" }) as Screen;
const screen = wide(Number.POSITIVE_INFINITY);

describe("findings", () => {
  it("are shown in columns, each with its fix below", () => {
    const findings: Finding[] = [
      { check: "store", verdict: "ok", message: "it is available" },
      { check: "queue fetch", verdict: "problem", message: "12 URLs waiting", fix: "trawl worker" },
    ];

    expect(showFindings(findings, screen)).toBe(
      [
        "ok       store        it is available",
        "problem  queue fetch  12 URLs waiting",
        "                      fix: npx trawl worker",
        "",
      ].join("\n"),
    );
  });

  it.each(["queue fetch", `queue ${"q".repeat(60)}`])("fit into 80 columns: %s", (check) => {
    const message = "many words of some length, ".repeat(12);
    const shown = showFindings([{ check, verdict: "warning", message, fix: message }], screen);

    for (const line of shown.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(shown.replaceAll(/\s+/g, " ")).toContain(message.trim());
  });

  it("use the width of the terminal, up to 110 columns", () => {
    const findings: Finding[] = [{ check: "store", verdict: "ok", message: "word ".repeat(60).trim() }];
    const longest = (columns: number) =>
      Math.max(
        ...showFindings(findings, wide(columns))
          .split("\n")
          .map((line) => line.length),
      );

    expect([60, 100, 300].map((columns) => longest(columns) <= Math.min(columns, 110))).toEqual([true, true, true]);
    expect(longest(100)).toBeGreaterThan(90);
    expect(longest(60)).toBeGreaterThan(50);
  });
});
