#!/usr/bin/env node
// `npm run build` builds all; `npm run build -- --dashboard` only the dashboard. npm also runs it as `prepare`: inside
// `npm ci`, before `npm pack`, and on the first `npx trawl` in a clone. Then it prints nothing and builds only if needed.
import { existsSync } from "node:fs";
import { build, buildDashboardAlone, canBuild, DIST, isBuilt, lackingPackages, linkBin, SRC } from "./dist.mjs";

const { npm_lifecycle_event: event, npm_command: command } = process.env;
const isPrepare = event === "prepare";

if (existsSync(SRC)) buildIfNeeded(); // in a container layer, the sources may come later

function buildIfNeeded() {
  if (!canBuild()) return lackPackages();
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

/** Development packages are missing: uses the existing build, or reports what to install. */
function lackPackages() {
  if (isPrepare && existsSync(DIST)) return linkBin();
  const lacking = lackingPackages().join(", ");
  console.error(
    `Trawl cannot be built, packages are missing: ${lacking}. Run \`npm ci --include=dev\`, or \`npm start\`.`,
  );
  // A failed `prepare` would break npx for this clone permanently, so an installation continues without a build. A package
  // must not be packed or published without one.
  const isInstalling = isPrepare && command !== "pack" && command !== "publish";
  if (!isInstalling) process.exitCode = 1;
}
