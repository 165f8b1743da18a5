#!/usr/bin/env node
// `npm run build`; with `-- --dashboard`, only that part. It is also npm's `prepare`, which runs inside `npm ci`, before `npm pack`, and on the first
// `npx trawl` in a clone: there it is quiet, and builds only what is due.
import { existsSync } from "node:fs";
import { build, buildDashboardAlone, canBuild, DIST, isBuilt, lackingPackages, linkBin, SRC } from "./dist.mjs";

const { npm_lifecycle_event: event, npm_command: command } = process.env;
const isPrepare = event === "prepare";

if (existsSync(SRC)) buildWhatIsDue(); // else a container layer that gets its sources later

function buildWhatIsDue() {
  if (!canBuild()) return lackPackages();
  if (isPrepare && isBuilt()) return linkBin();
  const startedAt = performance.now();
  const isAlone = process.argv.includes("--dashboard");
  if (!(isAlone ? buildDashboardAlone() : build())) {
    console.error("The build failed; dist/ is as it was.");
    process.exitCode = 1;
  } else if (!isPrepare) {
    console.log(
      `Built dist/${isAlone ? "dashboard/" : ""} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`,
    );
  }
}

/** Without development packages, what is there must do. */
function lackPackages() {
  if (isPrepare && existsSync(DIST)) return linkBin();
  const lacking = lackingPackages().join(", ");
  console.error(`Trawl is not built: not installed: ${lacking}. Run \`npm ci --include=dev\`, or \`npm start\`.`);
  // Installing goes on, and can be mended later: npx would remember a failure for good. A package must not go out unbuilt.
  const isInstalling = isPrepare && command !== "pack" && command !== "publish";
  if (!isInstalling) process.exitCode = 1;
}
