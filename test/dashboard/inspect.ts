/** Checks of a rendered page that do not depend on its implementation. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { inPage } from "./browser.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FOREIGN_CONTENT = readFileSync(inPage("foreign-content"), "utf8");
const LAYOUT = readFileSync(inPage("layout"), "utf8");

type Finding = { id: string; impact: string | null; help: string; nodes: { html: string; failureSummary?: string }[] };

/** The serious and critical findings of axe-core; with `rules`, only of these rules. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated by the harness, so the Content-Security-Policy of the page does not block it.
  await page.evaluate(`${AXE}; 0`);
  const only = rules === undefined ? "{}" : JSON.stringify({ runOnly: { type: "rule", values: rules } });
  const run = `axe.run(document, { ...${only}, resultTypes: ["violations"] }).then(({ violations }) => violations)`;
  const violations = (await page.evaluate(run)) as Finding[];
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help}: ${nodes
          .map(({ html }) => html.slice(0, 160))
          .slice(0, 3)
          .join(" | ")}`,
    );
}

/** Elements, handlers and addresses that the dashboard did not create. */
export async function foreignContent(page: Page): Promise<string[]> {
  return (await page.evaluate(FOREIGN_CONTENT)) as string[];
}

/** Horizontal scrolling, cut-off text and overlapping text, checked after the page is drawn. */
export async function layoutFindings(page: Page): Promise<string[]> {
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  return (await page.evaluate(LAYOUT)) as string[];
}
