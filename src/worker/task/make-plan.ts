/** Makes the plan of a job: compiles its rules or loads its spider. */
import { hash } from "node:crypto";
import { createLinkFilter } from "../../discover/link-filter.ts";
import { createSitemapScope } from "../../discover/sitemap/sitemap-scope.ts";
import { DEFAULT_EXIT_RULES } from "../../domain/exit.ts";
import { chooseProfile } from "../../domain/header-profile.ts";
import type { Credentials, JobSpec } from "../../domain/job-spec.ts";
import { createRouter } from "../../domain/route.ts";
import { originOf } from "../../domain/site.ts";
import type { Extractor } from "../../extract/extractor.ts";
import type { ExitUse } from "../../fetch/fetcher.ts";
import type { Spider, SpiderLogin } from "../../spider/define-spider.ts";
import type { PageReader } from "../../spider/page-reader.ts";
import { requestFrom } from "../../spider/request-options.ts";
import type { JobPlan } from "./plan.ts";

type Deps = {
  /** The extractor of a job without a spider. */
  makeExtractor(spec: JobSpec): Extractor;
  loadSpider(path: string): Promise<Spider>;
  /** A digest of the code of a spider. */
  hashSpider(path: string): string;
  /** Replaces a reference to a secret by its value. Throws BAD_SECRET. */
  resolveSecret(text: string): string;
  /** The largest body of a request. */
  requestBodyBytes: number;
  /** The version of Trawl: another version may read pages differently. */
  version: string;
  makeSpiderReader(spider: Spider, inScope: (pageUrl: string, depth: number) => (url: string) => boolean): PageReader;
};

export function createPlanMaker({
  makeExtractor,
  loadSpider,
  hashSpider,
  resolveSecret,
  requestBodyBytes,
  version,
  makeSpiderReader,
}: Deps): (spec: JobSpec) => Promise<JobPlan> {
  return async (spec) => {
    const linkFilter = spec.follow === undefined ? undefined : createLinkFilter(spec.follow);
    const headersFor = headersOf(spec, resolveSecret);
    const routeOf = createRouter(spec);
    const exits = exitsOf(spec);
    const sitemapScope = createSitemapScope(spec.follow, spec.origins);
    // The spider is hashed before it is loaded. If its file changes in between, the digest is that of the old code, so
    // the next job reads the pages again.
    const shared = {
      spec,
      digestOf: digestFor(spec, version, hashSpider),
      routeOf,
      exits,
      headersFor,
      profileFor: profilesOf(spec),
      resolveSecret,
      sitemapScope,
    };
    if (spec.spider === undefined) {
      return { ...shared, linkFilter, read: readerOf(makeExtractor(spec)), needsTab: false };
    }
    const spiderFilter = linkFilter ?? createLinkFilter(OWN_SITE);
    const inScope = (pageUrl: string, depth: number) =>
      spiderFilter.goesDeeperThan(depth) ? spiderFilter.from(pageUrl) : () => false;
    const spider = await loadSpider(spec.spider);
    const read = makeSpiderReader(spider, inScope);
    const logIn = typeof spider.login === "function" ? loginOf(spider.login, requestBodyBytes) : undefined;
    return { ...shared, logIn, linkFilter: spiderFilter, read, needsTab: true };
  };
}

/** The login of a spider, with the functions that it gets. */
function loginOf(login: SpiderLogin, requestBodyBytes: number): JobPlan["logIn"] {
  const settings = { requestBodyBytes, bodies: undefined };
  return async ({ send, findCookie }) => {
    await login({
      request: async (url, init = {}) => send(url, requestFrom(init, "request", settings)),
      session: { cookie: findCookie },
    });
  };
}

/** The default link scope of a spider's selectors. */
const OWN_SITE = { links: "a[href]", scope: "site", include: [], exclude: [], maxDepth: undefined } as const;

/** The proxies and gateways of the requests of a job. */
export function exitsOf({ id, proxy }: JobSpec): ExitUse {
  return proxy === "none" ? "none" : { rules: proxy ?? DEFAULT_EXIT_RULES, jobId: id };
}

/** The header profiles of the requests of a job, see JobPlan.profileFor. */
export function profilesOf({ id, profile }: JobSpec): JobPlan["profileFor"] {
  if (profile === undefined) return undefined;
  return (site, session) =>
    session === undefined ? chooseProfile(profile, `${id} ${site}`, 0) : chooseProfile(profile, id, session.identity);
}

/** Headers that never contain secrets, so that they are sent to every origin. Any other header may contain one. */
const OPEN_HEADERS = new Set([
  ...["accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "dnt", "from", "pragma"],
  ...["range", "referer", "upgrade-insecure-requests", "user-agent"],
]);

/** The headers of the requests of a job, see JobPlan.headersFor. */
export function headersOf(
  { headers: written, auth = {}, origins }: Pick<JobSpec, "headers" | "auth" | "origins">,
  resolveSecret: (text: string) => string,
): JobPlan["headersFor"] {
  const headers = resolved(written, resolveSecret);
  const open = Object.fromEntries(Object.entries(headers).filter(([name]) => OPEN_HEADERS.has(name)));
  const hasSecrets = Object.keys(open).length < Object.keys(headers).length;
  const trusted = new Set(origins);
  const authOf = authorizations(auth, resolveSecret);
  return ({ url, depth, redirects, request }) => {
    // A task at depth 0 is a URL of the job, unless a redirect leads to it.
    const isOwn = !hasSecrets || (depth === 0 && redirects === 0) || trusted.has(originOf(url));
    const credentials = authOf?.get(originOf(url));
    const ofJob = isOwn ? headers : open;
    const shared = credentials === undefined ? ofJob : { ...ofJob, authorization: credentials };
    if (request?.headers === undefined) return shared;
    // Only a request that the user has submitted may contain references. A spider may build headers from the text of a
    // page, and a page must not be able to read secrets.
    return { ...shared, ...(depth === 0 ? resolved(request.headers, resolveSecret) : request.headers) };
  };
}

/** The `authorization` header of each origin. */
function authorizations(
  auth: NonNullable<JobSpec["auth"]>,
  resolveSecret: (text: string) => string,
): ReadonlyMap<string, string> | undefined {
  const entries = Object.entries(auth);
  if (entries.length === 0) return undefined;
  return new Map(entries.map(([origin, credentials]) => [origin, authorization(credentials, resolveSecret)]));
}

function authorization(credentials: Credentials, resolveSecret: (text: string) => string): string {
  if ("bearer" in credentials) return `Bearer ${resolveSecret(credentials.bearer)}`;
  const { user, password } = credentials.basic;
  return `Basic ${Buffer.from(`${resolveSecret(user)}:${resolveSecret(password)}`).toString("base64")}`;
}

function resolved(headers: Headers, resolveSecret: (text: string) => string): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, resolveSecret(value)]));
}

type Headers = Readonly<Record<string, string>>;

/** Only recrawls compare digests, so the files of a spider are not read for other jobs. */
function digestFor(spec: JobSpec, version: string, hashSpider: Deps["hashSpider"]): JobPlan["digestOf"] {
  if (spec.recrawl === undefined) return () => "";
  const { extract, follow, render, browser, headers, auth, spider, politeness, profile = [] } = spec;
  const code = spider === undefined ? undefined : hashSpider(spider);
  // Keys that are not set are left out, so that the digests of other jobs stay the same.
  const more = [...(auth === undefined ? [] : [auth]), ...(politeness.metaRobots === true ? ["metaRobots"] : [])];
  const shared = JSON.stringify([version, extract, follow, render, browser, headers, code, ...more, ...profile]);
  const digest = (text: string) => hash("sha256", text, "base64url").slice(0, 27);
  if (spider === undefined) {
    const reads = digest(shared);
    return () => reads;
  }
  // A handler receives these values, so its result may depend on them.
  return ({ handler, carry, depth }) => digest(JSON.stringify([shared, handler, carry, depth]));
}

function readerOf(extract: Extractor): PageReader {
  return ({ page, html }) => ({ ...extract({ page, html }), wanted: [] });
}
