/** Finds Chromium on this machine. */
import { accessSync, constants, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { TrawlError } from "../../errors.ts";

const FOLDERS = ["/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/homebrew/bin"];
/** The headless shell comes first: opening a window for every page is half of the cost of a page. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
/** Where `npx playwright install chromium` installs browsers, and their file names. */
const PLAYWRIGHT_FOLDERS = [".cache/ms-playwright", "Library/Caches/ms-playwright"];
const PLAYWRIGHT_PROGRAMS = [
  ...["chrome-linux/headless_shell", "chrome-headless-shell-linux64/chrome-headless-shell"],
  ...["chrome-linux/chrome", "chrome-linux64/chrome", "chrome-mac/Chromium.app/Contents/MacOS/Chromium"],
];
const MAC_APPS = ["Chromium.app/Contents/MacOS/Chromium", "Google Chrome.app/Contents/MacOS/Google Chrome"];

/** `auto`: the first that exists, the system's before Playwright's; otherwise the given path. Throws BROWSER_UNAVAILABLE. */
export function getChromium(setting: string): string {
  const candidates = setting === "auto" ? [...systemPlaces(), ...playwrightPlaces()] : [setting];
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  const [what, fix] =
    setting === "auto"
      ? [
          `no ${NAMES.join(", ")} in ${FOLDERS.join(", ")}, and none of Playwright's`,
          "install Chromium (on Debian: apt-get install chromium-headless-shell), or name it in TRAWL_CHROMIUM",
        ]
      : [`TRAWL_CHROMIUM is ${setting}, which is no program that may be run`, "name one that is, or leave it out"];
  throw new TrawlError("BROWSER_UNAVAILABLE", {
    op: "browser.find",
    message: `pages are to be rendered, and there is no browser: ${what}; ${fix}`,
    detail: { setting },
  });
}

function systemPlaces(): string[] {
  const apps = MAC_APPS.map((app) => join("/Applications", app));
  return [...NAMES.flatMap((name) => FOLDERS.map((folder) => join(folder, name))), ...apps];
}

/** Browsers that Playwright has installed for this user, newest first. Folder names end with the build number. */
export function playwrightPlaces(): string[] {
  return PLAYWRIGHT_FOLDERS.map((folder) => join(homedir(), folder)).flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.startsWith("chromium"))
      .sort((one, other) => buildOf(other) - buildOf(one))
      .flatMap((name) => PLAYWRIGHT_PROGRAMS.map((program) => join(folder, name, program))),
  );
}

function buildOf(name: string): number {
  return Number(/\d+$/.exec(name)?.[0] ?? 0);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // most machines have none
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // whatever is wrong with it, it is not a browser for us
  }
}
