/** Where Chromium is on this machine. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { TrawlError } from "../../errors.ts";

const FOLDERS = ["/usr/bin", "/usr/local/bin", "/snap/bin", "/opt/homebrew/bin"];
/** First the one that has no windows at all: to open one for every page is half of what a page costs. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const MAC_APPS = ["Chromium.app/Contents/MacOS/Chromium", "Google Chrome.app/Contents/MacOS/Google Chrome"];

/** `auto`: the first where it usually is; else the path as given. Throws BROWSER_UNAVAILABLE. */
export function getChromium(setting: string): string {
  const candidates = setting === "auto" ? usualPlaces() : [setting];
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  const [what, fix] =
    setting === "auto"
      ? [
          `no ${NAMES.join(", ")} in ${FOLDERS.join(", ")}`,
          "install Chromium (on Debian: apt-get install chromium-headless-shell), or name it in TRAWL_CHROMIUM",
        ]
      : [`TRAWL_CHROMIUM is ${setting}, which is no program that may be run`, "name one that is, or leave it out"];
  throw new TrawlError("BROWSER_UNAVAILABLE", {
    op: "browser.find",
    message: `pages are to be rendered, and there is no browser: ${what}; ${fix}`,
    detail: { setting },
  });
}

function usualPlaces(): string[] {
  const apps = MAC_APPS.map((app) => join("/Applications", app));
  return [...NAMES.flatMap((name) => FOLDERS.map((folder) => join(folder, name))), ...apps];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // whatever is wrong with it, it is not a browser for us
  }
}
