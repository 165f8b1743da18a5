/** Finds Chromium on this machine. */
import { accessSync, constants, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { TrawlError } from "../../errors.ts";

const FOLDERS = ["/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/homebrew/bin"];
/** The headless shell is first, because opening a window is half of the cost of a page. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
/** Where `npx playwright install chromium` installs browsers, and their file names. */
const PLAYWRIGHT_FOLDERS = [".cache/ms-playwright", "Library/Caches/ms-playwright"];
const PLAYWRIGHT_PROGRAMS = [
  ...["chrome-linux/headless_shell", "chrome-headless-shell-linux64/chrome-headless-shell"],
  ...["chrome-linux/chrome", "chrome-linux64/chrome", "chrome-mac/Chromium.app/Contents/MacOS/Chromium"],
];
const MAC_APPS = ["Chromium.app/Contents/MacOS/Chromium", "Google Chrome.app/Contents/MacOS/Google Chrome"];

/**
 * The path of Chromium. `setting` is a path or `auto`. For `auto`, browsers of the system come before those of
 * Playwright, and the first that exists is used. Throws BROWSER_UNAVAILABLE if none exists.
 */
export function getChromium(setting: string): string {
  const candidates = setting === "auto" ? [...systemPaths(), ...playwrightPaths()] : [setting];
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  const [what, fix] =
    setting === "auto"
      ? [
          `there is no ${NAMES.join(", ")} in ${FOLDERS.join(", ")}, and Playwright has installed none`,
          "install Chromium (on Debian: apt-get install chromium-headless-shell), or set its path in TRAWL_CHROMIUM",
        ]
      : [
          `TRAWL_CHROMIUM is ${setting}, which is not an executable file`,
          "set it to the path of Chromium, or unset it",
        ];
  throw new TrawlError("BROWSER_UNAVAILABLE", {
    op: "browser.find",
    message: `pages must be rendered, but no browser was found: ${what}; ${fix}`,
    detail: { setting },
  });
}

function systemPaths(): string[] {
  const apps = MAC_APPS.map((app) => join("/Applications", app));
  return [...NAMES.flatMap((name) => FOLDERS.map((folder) => join(folder, name))), ...apps];
}

/** Browsers that Playwright has installed for this user, newest first. Folder names end with the build number. */
export function playwrightPaths(): string[] {
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
    return []; // the folder does not exist
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // missing, or not executable
  }
}
