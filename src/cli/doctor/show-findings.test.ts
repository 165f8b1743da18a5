import pc from "picocolors";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../frontier/frontier-admin.ts";
import { showFindings } from "./show-findings.ts";

const screen = { paint: pc.createColors(false), outColumns: () => Number.POSITIVE_INFINITY } as Parameters<
  typeof showFindings
>[1];

describe("findings", () => {
  it("stand in columns, each with its fix below it", () => {
    const findings: Finding[] = [
      { check: "store", verdict: "ok", says: "it is there" },
      { check: "queue fetch", verdict: "problem", says: "12 URLs waiting", fix: "trawl worker" },
    ];

    expect(showFindings(findings, screen)).toBe(
      [
        "ok       store        it is there",
        "problem  queue fetch  12 URLs waiting",
        "                      fix: trawl worker",
        "",
      ].join("\n"),
    );
  });

  it.each(["queue fetch", `queue ${"q".repeat(60)}`])("keep within 80 columns: %s", (check) => {
    const says = "many words of some length, ".repeat(12);
    const shown = showFindings([{ check, verdict: "warning", says, fix: says }], screen);

    for (const line of shown.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(shown.replaceAll(/\s+/g, " ")).toContain(says.trim());
  });
});
