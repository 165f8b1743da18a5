#!/usr/bin/env node
// `npm run screenshots`: pictures of the dashboard for README and docs, of a fleet that is started for them.
import { mkdirSync, mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { ROOT } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { withOptions } from "./options.mjs";

const USAGE = `Usage: npm run screenshots -- [options]
  --look        every page at 1440, 1024 and 390 px, light and dark, in a temporary folder, and whether anything is
                cut off, lies upon something else or makes the page scroll sideways; ends with 1 if so
  --only NAMES  these pages alone, with commas between: overview,jobs
  --out FOLDER  where pictures go (docs/media)`;

const THEMES = ["light", "dark"];
const WIDTHS = [1440, 1024, 390];
/** As wide as a page of docs, and small enough for a repository. */
const PICTURE = { width: 1200, height: 750 };
const MOST_KB = 150;
/** Those that docs show; `--look` goes everywhere. */
const SHOWN = [
  "overview",
  "jobs",
  "submit",
  "job-running",
  "job-records",
  "sites",
  "site",
  "workers",
  "dead",
  "schedules",
  "explain",
  "keys",
];
/** How long the fleet works before it is looked at, so that its charts have a line. */
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
  const [{ openStage }, { fillStage }, { openViewers }, tour, { layoutFindings }] = await Promise.all(
    ["stage", "fill-stage", "browser", "tour", "inspect"].map((name) => jiti.import(`../test/dashboard/${name}.ts`)),
  );
  const [stage, viewers] = await Promise.all([openStage(), openViewers()]);
  try {
    const { shop, books, views } = await fillStage(stage);
    await new Promise((resolve) => setTimeout(resolve, WORK_MS));
    const places = { crawl: shop, running: books, views, site: "news.example", url: "http://news.example/story/5" };
    const stops = tour.tourOf(places).filter(({ name }) => only?.includes(name) ?? (isLook || SHOWN.includes(name)));
    const look = { stage, viewers, stops, tour, layoutFindings };
    return isLook ? await lookAt(look) : await picture(look, out);
  } finally {
    await viewers.close();
    await stage.close();
  }
}

async function picture({ stage, viewers, stops, tour }, folder) {
  mkdirSync(folder, { recursive: true });
  let isSmall = true;
  for (const theme of THEMES) {
    const viewer = await viewers.open({ ...PICTURE, theme, key: stage.key });
    for (const stop of stops) {
      await tour.visit(viewer.page, stage.url, stop);
      // A day shows more than the minutes since the fleet was started.
      if (stop.name === "overview") await viewer.page.getByRole("button", { name: "24 h" }).click();
      await viewer.page.mouse.move(0, 0); // over nothing that would show it
      await viewer.page.waitForTimeout(2_500); // until live values have come
      const file = await viewer.shoot(folder, `dashboard-${stop.name}-${theme}`);
      const kb = Math.ceil(statSync(file).size / 1000);
      isSmall &&= kb <= MOST_KB;
      console.log(`${file}: ${kb} KB${kb > MOST_KB ? `, more than ${MOST_KB}` : ""}`);
    }
    await viewer.close();
  }
  return isSmall ? 0 : 1;
}

async function lookAt({ stage, viewers, stops, tour, layoutFindings }) {
  const folder = mkdtempSync(join(tmpdir(), "trawl-look-"));
  let count = 0;
  for (const width of WIDTHS) {
    for (const theme of THEMES) {
      const viewer = await viewers.open({ width, theme, key: stage.key });
      for (const stop of stops) {
        await tour.visit(viewer.page, stage.url, stop);
        await viewer.page.waitForTimeout(500);
        await viewer.shoot(folder, `${stop.name}-${width}-${theme}`, { whole: width < 600 });
        const findings = [...(await layoutFindings(viewer.page)), ...Object.values(viewer.troubles).flat()];
        for (const list of Object.values(viewer.troubles)) list.length = 0;
        count += findings.length;
        for (const finding of findings) console.log(`${stop.name} at ${width} px, ${theme}: ${finding}`);
      }
      await viewer.close();
    }
  }
  console.log(`pictures in ${folder}; ${count} findings`);
  return count === 0 ? 0 : 1;
}
