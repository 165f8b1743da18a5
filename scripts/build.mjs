#!/usr/bin/env node
// `npm run build` builds everything; `npm run build -- --dashboard` builds only the dashboard. npm also runs this
// script as `prepare`: during `npm ci`, before `npm pack`, and on the first `npx trawl` in a clone. As `prepare`, it
// prints nothing and builds only if needed.
import { existsSync } from "node:fs";
import { build, buildDashboardAlone, canBuild, DIST, isBuilt, linkBin, missingPackages, SRC } from "./dist.mjs";

const { npm_lifecycle_event: event, npm_command: command } = process.env;
const isPrepare = event === "prepare";

if (existsSync(SRC)) buildIfNeeded(); // a container image may copy the sources in a later layer

function buildIfNeeded() {
  if (!canBuild()) return reportMissingPackages();
  if (isPrepare && isBuilt()) return linkBin();
  const startedAt = performance.now();
  const isAlone = process.argv.includes("--dashboard");
  if (!(isAlone ? buildDashboardAlone() : build())) {
    console.error("The build failed; dist/ is unchanged.");
    process.exitCode = 1;
  } else if (!isPrepare) {
    console.log(
      `Built dist/${isAlone ? "dashboard/" : ""} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`,
    );
  }
}

/**
 * Called if development packages are missing. `prepare` then uses an existing build. In all other cases, this function
 * prints what to install.
 */
function reportMissingPackages() {
  if (isPrepare && existsSync(DIST)) return linkBin();
  const missing = missingPackages().join(", ");
  console.error(
    `Trawl cannot be built, packages are missing: ${missing}. Run \`npm ci --include=dev\`, or \`npm start\`.`,
  );
  // A failed `prepare` would break npx for this clone permanently, so an installation continues without a build. A
  // package must not be packed or published without one.
  const isInstalling = isPrepare && command !== "pack" && command !== "publish";
  if (!isInstalling) process.exitCode = 1;
}
