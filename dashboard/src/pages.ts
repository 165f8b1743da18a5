/** All pages with their path and the key scope they need. The code of a page is loaded on its first visit. */
import type { ComponentType } from "preact";
import type { KeyScope } from "./session.ts";

/** The rest of the path after the page's own: `["abc"]` for `#/sites/abc`. */
export type PageProps = { rest: readonly string[] };

export type PageEntry = {
  path: string;
  title: string;
  scope: KeyScope;
  /** False for pages that are reached by a link from another page. */
  isInMenu: boolean;
  load: () => Promise<ComponentType<PageProps>>;
};

const page = (path: string, title: string, scope: KeyScope, load: PageEntry["load"], isInMenu = true): PageEntry => ({
  ...{ path, title, scope, load, isInMenu },
});

export const PAGES: readonly PageEntry[] = [
  page("", "Overview", "read", async () => (await import("./pages/overview/overview.tsx")).Overview),
  page("jobs", "Jobs", "read", async () => (await import("./pages/jobs/jobs.tsx")).Jobs),
  page("jobs/new", "New job", "submit", async () => (await import("./pages/submit/submit.tsx")).Submit, false),
  page("jobs/:id", "Job", "read", async () => (await import("./pages/job/job.tsx")).JobPage, false),
  page("sites", "Sites", "admin", async () => (await import("./pages/sites/sites.tsx")).Sites),
  page("sites/:id", "Site", "admin", async () => (await import("./pages/site/site.tsx")).Site, false),
  page("workers", "Workers", "admin", async () => (await import("./pages/workers/workers.tsx")).Workers),
  page("proxies", "Proxies", "admin", async () => (await import("./pages/proxies/proxies.tsx")).Proxies),
  page("dead", "Dead letters", "read", async () => (await import("./pages/dead/dead.tsx")).Dead),
  page("schedules", "Schedules", "read", async () => (await import("./pages/schedules/schedules.tsx")).Schedules),
  page("explain", "Explain", "read", async () => (await import("./pages/explain/explain.tsx")).Explain),
  page("keys", "Keys", "admin", async () => (await import("./pages/keys/keys.tsx")).Keys),
];

type PageMatch = { page: PageEntry; rest: readonly string[] };

/** The page with the longest matching path. The value of `:id` is the first element of `rest`. */
export function findPage(path: readonly string[], pages: readonly PageEntry[] = PAGES): PageMatch | undefined {
  if (path.length === 0) return match(pages, "", []);
  const [first = "", second] = path;
  if (second !== undefined) {
    const exact = match(pages, `${first}/${second}`, path.slice(2)) ?? match(pages, `${first}/:id`, path.slice(1));
    if (exact !== undefined) return exact;
  }
  return match(pages, first, path.slice(1));
}

function match(pages: readonly PageEntry[], path: string, rest: readonly string[]): PageMatch | undefined {
  const page = pages.find((one) => one.path === path);
  return page === undefined ? undefined : { page, rest };
}
