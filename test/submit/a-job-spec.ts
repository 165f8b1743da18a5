import { PLAIN_BROWSER } from "../../src/domain/browser.ts";
import type { JobSpec } from "../../src/domain/job-spec.ts";

/** A resolved job with simple values, as it is read from a broker: JSON does not keep undefined fields. */
export function aJobSpec(parts: Partial<JobSpec> = {}): JobSpec {
  const spec: JobSpec = {
    id: "job",
    requestId: "request",
    name: "a job",
    urls: [],
    urlCount: 0,
    urlsHash: "",
    spider: undefined,
    follow: undefined,
    extract: undefined,
    politeness: { policy: { intervalMs: 0, burst: 1, perSite: 1 }, robots: false, sites: {} },
    siteGrouping: "domain",
    retries: { max: 2, backoffMs: 1000 },
    limits: { pages: undefined, seconds: undefined, bodyBytes: 1_000_000 },
    queue: "fetch",
    renderQueue: "render",
    render: "never",
    browser: PLAIN_BROWSER,
    priority: 5,
    routes: [],
    parse: undefined,
    headers: {},
    origins: [],
    dedup: { scope: "job" },
    keep: { bodies: false, pages: true, records: true },
    typedHosts: [],
    out: undefined,
    ...parts,
  };
  return JSON.parse(JSON.stringify(spec)) as JobSpec;
}
