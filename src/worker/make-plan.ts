/** Job -> plan: compiles its rules or loads its spider. */
import { hash } from "node:crypto";
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
  /** Stands for the code of a spider. */
  hashSpider(path: string): string;
  /** Of this program: another may read pages in another way. */
  version: string;
  makeSpiderReader(spider: Spider, inScope: (pageUrl: string, depth: number) => (url: string) => boolean): Reader;
};

export function createPlanMaker({
  makeExtractor,
  loadSpider,
  hashSpider,
  version,
  makeSpiderReader,
}: Deps): (spec: JobSpec) => Promise<JobPlan> {
  return async (spec) => {
    const scope = spec.follow === undefined ? undefined : createScope(spec.follow);
    const headersFor = headersOf(spec);
    const routeOf = createRouter(spec);
    // Before the spider is loaded: should its file change in between, the next job reads in another way.
    const readsOf = readsFrom(spec, version, hashSpider);
    if (spec.spider === undefined) {
      return { spec, scope, readsOf, routeOf, headersFor, read: readerOf(makeExtractor(spec)), needsTab: false };
    }
    const spiderScope = scope ?? createScope(OWN_SITE);
    const inScope = (pageUrl: string, depth: number) =>
      spiderScope.goesDeeperThan(depth) ? spiderScope.from(pageUrl) : () => false;
    const read = makeSpiderReader(await loadSpider(spec.spider), inScope);
    return { spec, scope: spiderScope, readsOf, routeOf, headersFor, read, needsTab: true };
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

/** Only recrawls compare how they read: other jobs need not look at their spider's files. */
function readsFrom(spec: JobSpec, version: string, hashSpider: Deps["hashSpider"]): JobPlan["readsOf"] {
  if (spec.recrawl === undefined) return () => "";
  const { extract, follow, render, browser, headers, spider } = spec;
  const code = spider === undefined ? undefined : hashSpider(spider);
  const shared = JSON.stringify([version, extract, follow, render, browser, headers, code]);
  const digest = (words: string) => hash("sha256", words, "base64url").slice(0, 27);
  if (spider === undefined) {
    const reads = digest(shared);
    return () => reads;
  }
  // A handler sees these, and may go by them.
  return ({ handler, carry, depth }) => digest(JSON.stringify([shared, handler, carry, depth]));
}

function readerOf(extract: Extractor): Reader {
  return ({ page, html }) => ({ ...extract({ page, html }), wanted: [] });
}
