/** Which pages there are, where they are, and who may see them. Each is loaded when it is first gone to. */
import type { ComponentType } from "preact";
import type { Scope } from "./session.ts";

/** What is left of the path after the page's own: `["abc"]` of `#/sites/abc`. */
export type PageProps = { rest: readonly string[] };

export type PageEntry = {
  path: string;
  title: string;
  scope: Scope;
  /** Whether it stands in the menu; the others are led to by these. */
  isInMenu: boolean;
  load: () => Promise<ComponentType<PageProps>>;
};

const page = (path: string, title: string, scope: Scope, load: PageEntry["load"], isInMenu = true): PageEntry => ({
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
  page("dead", "Dead letters", "read", async () => (await import("./pages/dead/dead.tsx")).Dead),
  page("schedules", "Schedules", "read", async () => (await import("./pages/schedules/schedules.tsx")).Schedules),
  page("explain", "Explain", "read", async () => (await import("./pages/explain/explain.tsx")).Explain),
  page("keys", "Keys", "admin", async () => (await import("./pages/keys/keys.tsx")).Keys),
];

export type Found = { page: PageEntry; rest: readonly string[] };

/** The page with the longest path that fits; what `:id` stands for is the first of `rest`. */
export function findPage(path: readonly string[], pages: readonly PageEntry[] = PAGES): Found | undefined {
  if (path.length === 0) return found(pages, "", []);
  const [first = "", second] = path;
  if (second !== undefined) {
    const exact = found(pages, `${first}/${second}`, path.slice(2)) ?? found(pages, `${first}/:id`, path.slice(1));
    if (exact !== undefined) return exact;
  }
  return found(pages, first, path.slice(1));
}

function found(pages: readonly PageEntry[], path: string, rest: readonly string[]): Found | undefined {
  const page = pages.find((one) => one.path === path);
  return page === undefined ? undefined : { page, rest };
}
