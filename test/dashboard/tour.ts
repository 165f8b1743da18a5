/** Every place of the dashboard, and how to go there. */
import type { Page } from "playwright-core";

export type Stop = {
  name: string;
  /** After the `#`. */
  place: string;
};

/** Jobs that have something to show; each place takes one. */
export type TourJobs = {
  /** With records, pages, invalid records and errors. */
  crawl: string;
  /** That has not ended. */
  running: string;
  /** With a picture of its pages, if there is one. */
  views?: string | undefined;
  site: string;
  url: string;
};

const PATIENCE_MS = 20_000;

export function tourOf({ crawl, running, views, site, url }: TourJobs): Stop[] {
  const tab = (name: string) => ({ name: `job-${name}`, place: `/jobs/${crawl}?tab=${name}` });
  return [
    { name: "overview", place: "/" },
    { name: "jobs", place: "/jobs" },
    { name: "submit", place: "/jobs/new" },
    { name: "job-running", place: `/jobs/${running}` },
    ...["records", "pages", "sites", "errors", "invalid", "timeline", "explain", "spec"].map(tab),
    ...(views === undefined ? [] : [{ name: "job-views", place: `/jobs/${views}?tab=pages` }]),
    { name: "sites", place: "/sites" },
    { name: "site", place: `/sites/${encodeURIComponent(site)}` },
    { name: "workers", place: "/workers" },
    { name: "dead", place: "/dead" },
    { name: "schedules", place: "/schedules" },
    { name: "explain", place: `/explain?q=${encodeURIComponent(url)}` },
    { name: "keys", place: "/keys" },
  ];
}

/** Resolves when the page is there with what it shows. */
export async function visit(page: Page, base: string, { place }: Pick<Stop, "place">): Promise<void> {
  await page.goto(`${base}/#${place}`);
  await settled(page);
}

/** What the page waits for has come. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main h1").first().waitFor({ timeout: PATIENCE_MS });
  const waiting = page.locator("main [aria-busy=true], main .loading").first();
  await waiting.waitFor({ state: "detached", timeout: PATIENCE_MS });
}
