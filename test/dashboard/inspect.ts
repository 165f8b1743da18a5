/** What is wrong with a page as it stands, by checks that know nothing of how it was made. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { inPage } from "./browser.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const CENSUS = readFileSync(inPage("census"), "utf8");
const LAYOUT = readFileSync(inPage("layout"), "utf8");

type Finding = { id: string; impact: string | null; help: string; nodes: { html: string; failureSummary?: string }[] };

/** What axe-core calls serious or critical; with `rules`, of these alone. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // As the harness, which no policy of the page holds back.
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

/** Elements, handlers and addresses that are not ours. */
export async function intruders(page: Page): Promise<string[]> {
  return (await page.evaluate(CENSUS)) as string[];
}

/** Sideways scrolling, text that is cut off, text upon text: as the page is once it has been drawn. */
export async function layoutFindings(page: Page): Promise<string[]> {
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  return (await page.evaluate(LAYOUT)) as string[];
}
