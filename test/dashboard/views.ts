/** Every view of the dashboard, and how to open it. */
import type { Page } from "playwright-core";

export type View = {
  name: string;
  /** The part of the address after the `#`. */
  path: string;
  /** Opens all closed sections of the page. */
  isOpened?: boolean;
};

/** The jobs, site and URL that the views show. */
export type ViewJobs = {
  /** A job with records, pages, invalid records and errors. */
  crawl: string;
  /** A job that has not ended. */
  running: string;
  /** A job with screenshots, if a browser is installed. */
  views?: string | undefined;
  site: string;
  url: string;
};

const TIMEOUT_MS = 20_000;

export function viewsOf({ crawl, running, views, site, url }: ViewJobs): View[] {
  const tab = (name: string) => ({ name: `job-${name}`, path: `/jobs/${crawl}?tab=${name}` });
  return [
    { name: "overview", path: "/" },
    { name: "jobs", path: "/jobs" },
    { name: "submit", path: "/jobs/new" },
    { name: "submit-sections", path: "/jobs/new", isOpened: true },
    { name: "job-running", path: `/jobs/${running}` },
    ...["records", "pages", "sites", "errors", "invalid", "timeline", "explain", "spec"].map(tab),
    ...(views === undefined ? [] : [{ name: "job-views", path: `/jobs/${views}?tab=pages` }]),
    { name: "sites", path: "/sites" },
    { name: "site", path: `/sites/${encodeURIComponent(site)}` },
    { name: "workers", path: "/workers" },
    { name: "proxies", path: "/proxies" },
    { name: "proxies-each", path: "/proxies?view=proxies" },
    { name: "dead", path: "/dead" },
    { name: "schedules", path: "/schedules" },
    { name: "explain", path: `/explain?q=${encodeURIComponent(url)}` },
    { name: "keys", path: "/keys" },
  ];
}

/** Resolves when the view has loaded its content. */
export async function visit(page: Page, base: string, view: Omit<View, "name">): Promise<void> {
  await page.goto(`${base}/#${view.path}`);
  await settled(page);
  if (view.isOpened !== true) return;
  await page.evaluate("for (const section of document.querySelectorAll('main details')) section.open = true");
  const login = page.getByLabel("Log in before the first page");
  if ((await login.count()) > 0) await login.check();
  await page.evaluate("document.querySelector('.closed-sections')?.scrollIntoView()");
}

/** Resolves when nothing on the page is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main h1").first().waitFor({ timeout: TIMEOUT_MS });
  const loading = page.locator("main [aria-busy=true], main .loading").first();
  await loading.waitFor({ state: "detached", timeout: TIMEOUT_MS });
}
