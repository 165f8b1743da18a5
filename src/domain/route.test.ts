import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRouter, domainProblem, type Route, type RouteMatch, resolveRoutes } from "./route.ts";

const USUAL = { queue: "fetch", priority: 5 };
const JOB = { name: "shop-daily", spider: "/srv/spiders/shop.ts" };

const THREE_LANES: Route[] = [
  { match: { job: ["urgent-*"] }, queue: "high_priority", priority: 0 },
  { match: { domain: ["slow.example", "*.slow.example"] }, queue: "slow_lane", priority: 9 },
  { match: { url: ["/archive/**"] }, queue: "batch_processing" },
];

/** The routing of a URL of a job. */
function routed(routes: readonly Route[], url: string, own = {}, job: { name: string; spider?: string } = JOB) {
  const { name, spider } = job;
  return createRouter(resolveRoutes(routes, { name, spider }, own, USUAL))(url);
}

function isMatch(match: RouteMatch, url = "https://a.example/x", job = JOB): boolean {
  return routed([{ match, queue: "found" }], url, {}, job).queue === "found";
}

describe("a route", () => {
  it("matches a URL by its host", () => {
    expect(isMatch({ domain: ["a.example"] })).toBe(true);
    expect(isMatch({ domain: ["a.example"] }, "http://a.example:8080/x")).toBe(true);
    expect(isMatch({ domain: ["a.example"] }, "https://www.a.example/")).toBe(false);
    expect(isMatch({ domain: ["*.a.example"] }, "https://www.a.example/")).toBe(true);
    expect(isMatch({ domain: ["*.a.example"] }, "https://x.y.a.example/")).toBe(true);
    expect(isMatch({ domain: ["*.a.example"] })).toBe(false);
    expect(isMatch({ domain: ["*.a.example"] }, "https://nota.example/")).toBe(false);
    expect(isMatch({ domain: ["A.Example"] })).toBe(true);
    expect(isMatch({ domain: ["münchen.example"] }, "https://xn--mnchen-3ya.example/")).toBe(true);
    expect(isMatch({ domain: ["[::1]"] }, "http://[::1]:8080/")).toBe(true);
  });

  it("matches a job by its name and by its spider", () => {
    expect(isMatch({ job: ["shop-*"] })).toBe(true);
    expect(isMatch({ job: ["*-daily"] })).toBe(true);
    expect(isMatch({ job: ["s*p*ly"] })).toBe(true);
    expect(isMatch({ job: ["shop"] })).toBe(false);
    expect(isMatch({ job: ["shop-daily*y"] })).toBe(false);
    expect(isMatch({ spider: ["shop"] })).toBe(true);
    expect(isMatch({ spider: ["shop-d*"] })).toBe(true);
    expect(isMatch({ spider: ["books"] })).toBe(false);
    expect(routed([{ match: { spider: ["*"] }, queue: "found" }], "https://a.example/", {}, { name: "x" })).toEqual(
      USUAL,
    );
  });

  it("matches only if all of its conditions match", () => {
    const match = { job: ["shop-*"], domain: ["a.example"], url: ["**/x/**"] };

    expect(isMatch(match, "https://a.example/x/1")).toBe(true);
    expect(isMatch(match, "https://a.example/y/1")).toBe(false);
    expect(isMatch(match, "https://b.example/x/1")).toBe(false);
    expect(isMatch({ ...match, job: ["other"] }, "https://a.example/x/1")).toBe(false);
  });

  it("applies only if it is the first that matches", () => {
    expect(routed(THREE_LANES, "https://www.slow.example/archive/1")).toEqual({ queue: "slow_lane", priority: 9 });
    expect(routed(THREE_LANES, "https://a.example/archive/1")).toEqual({ queue: "batch_processing", priority: 5 });
    expect(routed(THREE_LANES, "https://a.example/")).toEqual(USUAL);
    const urgent = routed(THREE_LANES, "https://www.slow.example/", {}, { name: "urgent-recall" });
    expect(urgent).toEqual({ queue: "high_priority", priority: 0 });
  });

  it("is overridden by a queue or priority of the job, each separately", () => {
    const url = "https://www.slow.example/";

    expect(routed(THREE_LANES, url, { priority: 1 })).toEqual({ queue: "slow_lane", priority: 1 });
    expect(routed(THREE_LANES, url, { queue: "mine" })).toEqual({ queue: "mine", priority: 9 });
    expect(routed(THREE_LANES, url, { queue: "mine", priority: 1 })).toEqual({ queue: "mine", priority: 1 });
  });

  it("reports what is wrong with a host", () => {
    expect(domainProblem("a.example")).toBeUndefined();
    expect(domainProblem("*.a.example")).toBeUndefined();
    expect(domainProblem("127.0.0.1")).toBeUndefined();
    expect(domainProblem("*")).toContain("first label");
    expect(domainProblem("a.*.example")).toContain("first label");
    expect(domainProblem("https://a.example/")).toContain("is not a host");
    expect(domainProblem("a.example:8080")).toContain("port");
    expect(domainProblem("*.")).toContain("is not a host");
  });
});

const names = fc.constantFrom("a", "b", "c");
const patterns = fc.option(fc.uniqueArray(fc.constantFrom("a", "b", "*", "a*", "*b"), { minLength: 1 }), {
  nil: undefined,
});
const domains = fc.option(fc.uniqueArray(fc.constantFrom("a.test", "*.a.test", "b.test"), { minLength: 1 }), {
  nil: undefined,
});
const globs = fc.option(fc.uniqueArray(fc.constantFrom("/x/**", "**", "*.pdf"), { minLength: 1 }), { nil: undefined });
const match = fc
  .record({ spider: patterns, job: patterns, domain: domains, url: globs })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, given]) => given !== undefined)) as RouteMatch);
const routing = fc.record(
  { queue: fc.constantFrom("q1", "q2", "q3"), priority: fc.integer({ min: 0, max: 9 }) },
  { requiredKeys: [] },
);
const routes = fc.array(fc.tuple(match, routing).map(([one, to]): Route => ({ match: one, ...to })));
const job = fc.record({
  name: names,
  spider: fc.option(
    names.map((name) => `/srv/${name}.ts`),
    { nil: undefined },
  ),
});
const url = fc
  .tuple(fc.constantFrom("a.test", "www.a.test", "b.test", "c.test:81"), fc.constantFrom("/", "/x/1", "/y.pdf"))
  .map(([host, path]) => `https://${host}${path}`);

describe("routes", () => {
  it("are decided by the first one that matches the URL, whatever routes follow", () => {
    fc.assert(
      fc.property(routes, job, routing, url, (all, one, own, at) => {
        const isMatching = (route: Route) =>
          createRouter(resolveRoutes([{ match: route.match, queue: "taken" }], one, {}, USUAL))(at).queue === "taken";
        const { match: _, ...first } = all.find(isMatching) ?? { match: {} };

        expect(createRouter(resolveRoutes(all, one, own, USUAL))(at)).toEqual({ ...USUAL, ...first, ...own });
      }),
    );
  });

  it("give the same result after a JSON round trip with the job", () => {
    fc.assert(
      fc.property(routes, job, routing, url, (all, one, own, at) => {
        const resolved = resolveRoutes(all, one, own, USUAL);

        expect(createRouter(JSON.parse(JSON.stringify(resolved)))(at)).toEqual(createRouter(resolved)(at));
      }),
    );
  });
});
