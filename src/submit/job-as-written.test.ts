import { expect, it } from "vitest";
import { resolveConfig } from "../config/resolve.ts";
import { jobAsWritten } from "./job-as-written.ts";
import type { JobInput } from "./job-schema.ts";
import { parseJob, resolveJob } from "./resolve-job.ts";
import { setOfSchedule, withTenant } from "./with-tenant.ts";

const config = resolveConfig([]);
const context = { id: "j1", requestId: "r1", queue: undefined, typedHosts: [], out: undefined };
const PLAIN = { spider: undefined, hasWebhook: false, submitted: 0 };
const resolved = (job: JobInput) => resolveJob(parseJob(job), config, context);

const JOBS: JobInput[] = [
  { urls: ["https://a.example/"] },
  { urls: ["https://a.example/"], follow: {} },
  { urls: ["https://a.example/"], proxy: { use: ["dc"], region: "eu" } },
  { urls: ["https://a.example/"], queue: "slow", proxy: { region: "eu" } },
  { urls: ["https://a.example/"], sitemaps: true },
  { sitemaps: ["https://a.example/sitemap.xml"] },
  { urls: ["https://a.example/"], sitemaps: { from: ["https://b.example/"], since: "2026-01-31" } },
  {
    name: "shop",
    urls: ["https://a.example/", "https://a.example/2"],
    follow: { links: ".next a", include: ["**/shop/**"], exclude: ["**/cart"], maxDepth: 3 },
    extract: { $each: ".card", title: "h1", price: { select: ".price", type: "number", required: true }, tags: ["a"] },
    politeness: { rate: "2/s", burst: 3, perSite: 2, robots: false, sites: { "b.example": { rate: "10/m" } } },
    retries: { max: 1, backoff: "3s" },
    limits: { pages: 100, seconds: 60, bodyBytes: 5000 },
    ...{ queue: "slow", priority: 2, parse: "queue", keep: { bodies: true, records: false } },
    dedup: { scope: "daily", expireAfter: "2h" },
    recrawl: { set: "shop", emit: "changed" },
  },
  {
    urls: ["https://a.example/"],
    render: "auto",
    browser: {
      waitFor: { selector: "#list" },
      settle: "2s",
      actions: [
        { click: "button", times: 3, optional: true },
        { press: "Enter" },
        { scroll: "bottom" },
        { wait: "1s" },
      ],
      screenshot: "view",
      requests: 10,
    },
  },
];

it.each(JOBS)("resolves to the same job: %j", (job) => {
  const spec = withTenant(resolved(job), "acme");

  const { job: again, missing } = jobAsWritten(spec, config, PLAIN);

  expect(missing).toEqual([]);
  expect(withTenant(resolved(parseJob(again)), "acme")).toEqual(spec);
});

it("leaves out the queue of a crawl, which no worker serves", () => {
  const crawl = resolveJob({ urls: ["https://a.example/"] }, config, { ...context, queue: "crawl:j1" });

  expect(jobAsWritten(crawl, config, PLAIN).job).not.toHaveProperty("queue");
});

it("contains only the values that the job set", () => {
  expect(jobAsWritten(resolved({ urls: ["https://a.example/"] }), config, PLAIN).job).toEqual({
    name: "a.example/",
    urls: ["https://a.example/"],
  });
});

it("contains no secrets, and lists the keys that the user has to add", () => {
  const urls = Array.from({ length: 501 }, (_, nth) => `https://a.example/${nth}`);
  const browser = { actions: [{ press: "Enter" }, { fill: "#password", with: "secret" }] };
  const spec = resolved({ urls, spider: "./x.ts", headers: { Cookie: "session=secret" }, render: "always", browser });

  const { job, missing } = jobAsWritten(spec, config, { ...PLAIN, hasWebhook: true });

  expect(missing).toEqual(["urls", "spider", "headers.cookie", "browser.actions.1", "webhook"]);
  expect(JSON.stringify(job)).not.toContain("secret");
});

it("lists the recrawl set of a schedule as missing, because no other job may use it", () => {
  const spec = resolved({ urls: ["https://a.example/"] });
  const ofSchedule = withTenant({ ...spec, recrawl: { set: setOfSchedule("s1"), emit: "all" } }, "acme");

  const { job, missing } = jobAsWritten(ofSchedule, config, PLAIN);

  expect(missing).toEqual(["recrawl"]);
  expect(job).not.toHaveProperty("recrawl");
});

it("lists URLs as missing if they were submitted as a separate list", () => {
  const [none, one] = [resolved({ name: "list" }), resolved({ urls: ["https://a.example/"] })];

  expect(jobAsWritten(none, config, { ...PLAIN, submitted: 7 }).missing).toEqual(["urls"]);
  expect(jobAsWritten(one, config, { ...PLAIN, submitted: 7 }).missing).toEqual(["urls"]);
  expect(jobAsWritten(one, config, { ...PLAIN, submitted: 1 }).missing).toEqual([]);
});
