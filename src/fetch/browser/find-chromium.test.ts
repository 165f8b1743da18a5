import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { getChromium, playwrightPaths } from "./find-chromium.ts";

describe("the browser", () => {
  it("may be one that Playwright installed; newer builds are preferred", () => {
    const home = mkdtempSync(join(tmpdir(), "trawl-home-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(playwrightPaths()).toEqual([]);
    for (const name of ["chromium-999", "chromium_headless_shell-1200", "firefox-1500", "ffmpeg-1"]) {
      mkdirSync(join(home, ".cache/ms-playwright", name), { recursive: true });
    }

    const [first, ...others] = playwrightPaths();

    expect(first).toBe(join(home, ".cache/ms-playwright/chromium_headless_shell-1200/chrome-linux/headless_shell"));
    expect(others).toContain(join(home, ".cache/ms-playwright/chromium-999/chrome-linux/chrome"));
    expect(others.join()).not.toContain("firefox");
  });

  it("is the file at the given path; no other browser is used instead", () => {
    expect(getChromium("/bin/sh")).toBe("/bin/sh");
    expect(() => getChromium("/nowhere/chromium")).toThrow(/BROWSER_UNAVAILABLE|\/nowhere\/chromium/);
  });
});
