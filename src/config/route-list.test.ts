import { describe, expect, it } from "vitest";
import { resolveConfig } from "./resolve.ts";

function routes(raw: unknown) {
  return resolveConfig([{ from: "trawl.config.ts", values: { routes: raw } }]).routes;
}

const GOOD = { match: { domain: "*.a.example" }, queue: "slow_lane" };

describe("the setting routes", () => {
  it("is a list, empty by default; a single pattern is read as a list of one", () => {
    expect(resolveConfig([]).routes).toEqual([]);
    expect(routes([GOOD, { match: { job: ["x", "y-*"] }, priority: 0 }, { match: {}, queue: "rest" }])).toEqual([
      { match: { domain: ["*.a.example"] }, queue: "slow_lane" },
      { match: { job: ["x", "y-*"] }, priority: 0 },
      { match: {}, queue: "rest" },
    ]);
  });

  it("is JSON in the environment", () => {
    expect(routes(JSON.stringify([GOOD]))).toEqual([{ match: { domain: ["*.a.example"] }, queue: "slow_lane" }]);
    expect(routes("")).toEqual([]);
  });

  it.each([
    ["{", "routes (TRAWL_ROUTES) takes a list such as"],
    [{}, "routes (TRAWL_ROUTES) takes a list such as"],
    [[GOOD, "slow"], "routes[1] is not an object"],
    [[GOOD, { match: {} }], "routes[1] has neither a queue nor a priority; add one or both"],
    [[{ ...GOOD, que: "x" }], "routes[0] has the unknown key que; the known keys are match, queue, priority"],
    [
      [{ ...GOOD, queue: "a b" }],
      'routes[0].queue takes letters, digits and _ . : - (at most 64 characters), not "a b"',
    ],
    [[{ ...GOOD, priority: 10 }], "routes[0].priority takes a whole number from 0, most urgent, to 9, not 10"],
    [[{ queue: "x" }], "routes[0].match takes an object with spider, job, domain, url; {} matches everything"],
    [
      [{ match: { host: "x" }, queue: "x" }],
      "routes[0].match has the unknown key host; the known keys are spider, job, ",
    ],
    [[{ match: { job: [] }, queue: "x" }], "routes[0].match.job is an empty list"],
    [[{ match: { job: 7 }, queue: "x" }], "routes[0].match.job takes text or a list of texts, not 7"],
    [[{ match: { domain: "a.*" }, queue: "x" }], 'routes[0].match.domain: "a.*" may have a "*" only as its first'],
    [[{ match: { url: ["/x/**", "{a"] }, queue: "x" }], 'routes[0].match.url: "{a" has an unpaired "{" or "}"'],
  ])("names the invalid entry: %j", (raw, message) => {
    expect(() => routes(raw)).toThrowError(expect.objectContaining({ code: "BAD_CONFIG" }));
    expect(() => routes(raw)).toThrowError(`trawl.config.ts: ${message}`);
  });
});
