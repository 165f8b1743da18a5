/** Job -> plan: compiles its rules or loads its spider. */
import { createScope } from "../discover/scope.ts";
import { createRouter } from "../domain/route.ts";
import type { Extractor } from "../extract/extractor.ts";
import type { Spider } from "../spider/define-spider.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import type { JobPlan, Reader } from "./plan.ts";

type Deps = {
  /** The extractor of a job without code. */
  makeExtractor(spec: JobSpec): Extractor;
  loadSpider(path: string): Promise<Spider>;
  makeSpiderReader(spider: Spider, inScope: (pageUrl: string, depth: number) => (url: string) => boolean): Reader;
};

export function createPlanMaker({
  makeExtractor,
  loadSpider,
  makeSpiderReader,
}: Deps): (spec: JobSpec) => Promise<JobPlan> {
  return async (spec) => {
    const scope = spec.follow === undefined ? undefined : createScope(spec.follow);
    const headersFor = headersOf(spec);
    const routeOf = createRouter(spec);
    if (spec.spider === undefined) {
      return { spec, scope, routeOf, headersFor, read: readerOf(makeExtractor(spec)), needsTab: false };
    }
    const spiderScope = scope ?? createScope(OWN_SITE);
    const inScope = (pageUrl: string, depth: number) =>
      spiderScope.goesDeeperThan(depth) ? spiderScope.from(pageUrl) : () => false;
    const read = makeSpiderReader(await loadSpider(spec.spider), inScope);
    return { spec, scope: spiderScope, routeOf, headersFor, read, needsTab: true };
  };
}

/** What a spider's selectors may lead to unless it says otherwise. */
const OWN_SITE = { links: "a[href]", scope: "site", include: [], exclude: [], maxDepth: undefined } as const;

/** Whoever a link or redirect leads to must not learn the keys of the sites that were named. */
const SECRET_HEADERS = new Set(["authorization", "cookie", "proxy-authorization"]);

/** The headers of a job for one URL. */
export function headersOf({ headers, typedHosts }: JobSpec): JobPlan["headersFor"] {
  const open = Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name)));
  if (Object.keys(open).length === Object.keys(headers).length) return () => headers;
  const trusted = new Set(typedHosts);
  return (url) => (trusted.has(new URL(url).hostname) ? headers : open);
}

function readerOf(extract: Extractor): Reader {
  return ({ page, html }) => ({ ...extract({ page, html }), wanted: [] });
}
