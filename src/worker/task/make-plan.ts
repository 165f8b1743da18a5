/** Makes the plan of a job: compiles its rules or loads its spider. */
import { hash } from "node:crypto";
import { createLinkFilter } from "../../discover/link-filter.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import { createRouter } from "../../domain/route.ts";
import type { Extractor } from "../../extract/extractor.ts";
import type { Spider } from "../../spider/define-spider.ts";
import type { PageReader } from "../../spider/page-reader.ts";
import type { JobPlan } from "./plan.ts";

type Deps = {
  /** The extractor of a job without a spider. */
  makeExtractor(spec: JobSpec): Extractor;
  loadSpider(path: string): Promise<Spider>;
  /** A digest of the code of a spider. */
  hashSpider(path: string): string;
  /** The version of Trawl: another version may read pages differently. */
  version: string;
  makeSpiderReader(spider: Spider, inScope: (pageUrl: string, depth: number) => (url: string) => boolean): PageReader;
};

export function createPlanMaker({
  makeExtractor,
  loadSpider,
  hashSpider,
  version,
  makeSpiderReader,
}: Deps): (spec: JobSpec) => Promise<JobPlan> {
  return async (spec) => {
    const linkFilter = spec.follow === undefined ? undefined : createLinkFilter(spec.follow);
    const headersFor = headersOf(spec);
    const routeOf = createRouter(spec);
    // Hashed before it is loaded: if the file changes in between, the digest is the older one, and the next job reads again.
    const readsOf = readsFrom(spec, version, hashSpider);
    if (spec.spider === undefined) {
      return { spec, linkFilter, readsOf, routeOf, headersFor, read: readerOf(makeExtractor(spec)), needsTab: false };
    }
    const spiderFilter = linkFilter ?? createLinkFilter(OWN_SITE);
    const inScope = (pageUrl: string, depth: number) =>
      spiderFilter.goesDeeperThan(depth) ? spiderFilter.from(pageUrl) : () => false;
    const read = makeSpiderReader(await loadSpider(spec.spider), inScope);
    return { spec, linkFilter: spiderFilter, readsOf, routeOf, headersFor, read, needsTab: true };
  };
}

/** The default link scope of a spider's selectors. */
const OWN_SITE = { links: "a[href]", scope: "site", include: [], exclude: [], maxDepth: undefined } as const;

/** Not sent to hosts that only a link or redirect leads to. */
const SECRET_HEADERS = new Set(["authorization", "cookie", "proxy-authorization"]);

/** The headers of a job for one URL. */
export function headersOf({ headers, typedHosts }: JobSpec): JobPlan["headersFor"] {
  const open = Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name)));
  if (Object.keys(open).length === Object.keys(headers).length) return () => headers;
  const trusted = new Set(typedHosts);
  return (url) => (trusted.has(new URL(url).hostname) ? headers : open);
}

/** Only recrawls compare digests. Other jobs do not read their spider's files for one. */
function readsFrom(spec: JobSpec, version: string, hashSpider: Deps["hashSpider"]): JobPlan["readsOf"] {
  if (spec.recrawl === undefined) return () => "";
  const { extract, follow, render, browser, headers, spider } = spec;
  const code = spider === undefined ? undefined : hashSpider(spider);
  const shared = JSON.stringify([version, extract, follow, render, browser, headers, code]);
  const digest = (text: string) => hash("sha256", text, "base64url").slice(0, 27);
  if (spider === undefined) {
    const reads = digest(shared);
    return () => reads;
  }
  // A handler gets these and may depend on them.
  return ({ handler, carry, depth }) => digest(JSON.stringify([shared, handler, carry, depth]));
}

function readerOf(extract: Extractor): PageReader {
  return ({ page, html }) => ({ ...extract({ page, html }), wanted: [] });
}
