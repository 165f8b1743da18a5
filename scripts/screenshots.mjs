#!/usr/bin/env node
// `npm run screenshots`: takes the pictures of the dashboard for README and docs, from a fleet that it starts.
import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { ROOT } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { withOptions } from "./options.mjs";

const USAGE = `Usage: npm run screenshots -- [options]
  --look        take every page at 1440, 1024 and 390 px, light and dark, into a temporary folder, and check the layout:
                cut-off text, overlapping text, horizontal scrolling; exit with 1 if there are findings
  --only NAMES  only these pages, separated by commas: overview,jobs
  --out FOLDER  the folder for the pictures (docs/media)`;

const THEMES = ["light", "dark"];
const WIDTHS = [1440, 1024, 390];
/** As wide as a docs page, and small enough for a repository. */
const PICTURE = { width: 1200, height: 750 };
const SIZE_MAX_KB = 150;
/** The views in the docs; `--look` takes all views. */
const SHOWN = [
  "overview",
  "jobs",
  "submit",
  "submit-sections",
  "job-running",
  "job-records",
  "sites",
  "site",
  "workers",
  "proxies",
  "dead",
  "schedules",
  "explain",
  "keys",
];
/** How long the fleet runs before the first picture, so that the charts have data. */
const WORK_MS = 20_000;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { look: { type: "boolean" }, only: text, out: text } });
  return { isLook: values.look === true, only: values.only?.split(","), out: values.out ?? join(ROOT, "docs/media") };
}

async function main({ isLook, only, out }) {
  await ensureReady();
  const jiti = createJiti(import.meta.url);
  const [{ openStage }, { fillStage }, { openViewers }, { viewsOf, visit }, { layoutFindings }, { STAGE_PROXIES }] =
    await Promise.all(
      ["stage", "fill-stage", "browser", "views", "inspect", "fill-proxies"].map((name) =>
        jiti.import(`../test/dashboard/${name}.ts`),
      ),
    );
  const [stage, viewers] = await Promise.all([openStage({ proxies: STAGE_PROXIES }), openViewers()]);
  try {
    const { shop, books, views } = await fillStage(stage);
    await new Promise((resolve) => setTimeout(resolve, WORK_MS));
    const jobs = { crawl: shop, running: books, views, site: "news.example", url: "http://news.example/story/5" };
    const chosen = viewsOf(jobs).filter(({ name }) => only?.includes(name) ?? (isLook || SHOWN.includes(name)));
    const deps = { stage, viewers, visit, layoutFindings };
    return isLook ? await checkLayout(deps, chosen) : await takePictures(deps, chosen, out);
  } finally {
    await viewers.close();
    await stage.close();
  }
}

async function takePictures({ stage, viewers, visit }, views, folder) {
  mkdirSync(folder, { recursive: true });
  let isSmall = true;
  for (const theme of THEMES) {
    const viewer = await viewers.open({ ...PICTURE, theme, key: stage.key });
    for (const view of views) {
      await visit(viewer.page, stage.url, view);
      // A day has more history than the minutes since the fleet was started.
      if (view.name === "overview") await viewer.page.getByRole("button", { name: "24 h" }).click();
      await viewer.page.mouse.move(0, 0); // away from elements with a hover effect
      await viewer.page.waitForTimeout(2_500); // until live values have arrived
      const file = await viewer.screenshot(folder, `dashboard-${view.name}-${theme}`);
      const kb = Math.ceil(statSync(file).size / 1000);
      isSmall &&= kb <= SIZE_MAX_KB;
      console.log(`${file}: ${kb} KB${kb > SIZE_MAX_KB ? `, more than ${SIZE_MAX_KB}` : ""}`);
    }
    await viewer.close();
  }
  return isSmall ? 0 : 1;
}

async function checkLayout({ stage, viewers, visit, layoutFindings }, views) {
  const folder = mkdtempSync(join(tmpdir(), "trawl-look-"));
  let count = 0;
  for (const width of WIDTHS) {
    for (const theme of THEMES) {
      const viewer = await viewers.open({ width, theme, key: stage.key });
      for (const view of views) {
        await visit(viewer.page, stage.url, view);
        await viewer.page.waitForTimeout(500);
        await viewer.screenshot(folder, `${view.name}-${width}-${theme}`, { whole: width < 600 });
        const findings = [...(await layoutFindings(viewer.page)), ...Object.values(viewer.problems).flat()];
        for (const list of Object.values(viewer.problems)) list.length = 0;
        count += findings.length;
        for (const finding of findings) console.log(`${view.name} at ${width} px, ${theme}: ${finding}`);
      }
      await viewer.close();
    }
  }
  console.log(`pictures in ${folder}; ${count} findings`);
  return count === 0 ? 0 : 1;
}
