/**
 * The sites whose pages have no content without a browser. Workers mark them in the broker, for all workers. Jobs with
 * `render: "auto"` check the site of every page, so the reply of the broker is cached. Many tasks call this at once.
 */
import { type JobSpec, kindOf } from "../../domain/job-spec.ts";
import { siteOf } from "../../domain/site.ts";
import type { TaskKind } from "../../domain/task.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";

export type ScriptedSites = {
  has(site: string): Promise<boolean>;
  mark(site: string): Promise<void>;
};

/** The kind of new tasks at the site of a page: `render` if the site is known to need a browser. */
export async function kindAt(
  url: string,
  spec: Pick<JobSpec, "render" | "siteGrouping">,
  scriptedSites: Pick<ScriptedSites, "has">,
): Promise<TaskKind> {
  if (spec.render !== "auto") return kindOf(spec);
  return (await scriptedSites.has(siteOf(url, spec.siteGrouping))) ? "render" : "fetch";
}

type Deps = { frontier: Pick<Frontier, "isScripted" | "markScripted">; clock: Clock };
type Options = {
  /** How long a site stays marked. After that it is fetched without a browser again. */
  memoryMs: number;
  /** How long a reply of the broker is cached. */
  cacheMs: number;
};
type CachedSite = { isScripted: Promise<boolean>; untilAt: number };

const MAX_CACHED = 10_000;

export function createScriptedSites({ frontier, clock }: Deps, { memoryMs, cacheMs }: Options): ScriptedSites {
  const known = new Map<string, CachedSite>();

  function cache(site: string, isScripted: Promise<boolean>): Promise<boolean> {
    isScripted.catch(() => known.delete(site)); // a failure is not cached
    if (known.size >= MAX_CACHED) known.clear();
    known.set(site, { isScripted, untilAt: clock.now() + cacheMs });
    return isScripted;
  }

  function has(site: string): Promise<boolean> {
    const found = known.get(site);
    const isFresh = found !== undefined && found.untilAt > clock.now();
    return isFresh ? found.isScripted : cache(site, frontier.isScripted(site));
  }

  return {
    has,
    async mark(site) {
      // Every page of such a site calls this, but one mark is enough.
      if (await has(site)) return;
      await cache(
        site,
        frontier.markScripted(site, memoryMs).then(() => true),
      );
    },
  };
}
