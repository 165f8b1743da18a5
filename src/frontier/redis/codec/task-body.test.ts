import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NewTask, TaskKind } from "../../../domain/task.ts";
import { decodeBody, encodeBody, encodeUrl } from "./task-body.ts";

function aTask(parts: Partial<NewTask>): NewTask {
  return { url: "https://a.test/", site: "a.test", kind: "fetch", queue: "fetch", priority: 5, depth: 0, ...parts };
}

/** Canonical URLs, as the WHATWG parser returns them. */
const urls = fc
  .tuple(
    fc.constantFrom("http", "https"),
    fc.domain(),
    fc.option(fc.integer({ min: 1, max: 65_535 })),
    fc.webPath(),
    fc.string(),
  )
  .map(([scheme, host, port, path, query]) => {
    const url = new URL(`${scheme}://${host}${port === null ? "" : `:${port}`}${path}`);
    url.search = query;
    return url;
  });

const tasks = fc
  .record({
    url: urls,
    by: fc.constantFrom("host", "domain", "unlike"),
    kind: fc.constantFrom<TaskKind>("fetch", "render", "parse", "deliver"),
    depth: fc.nat(1000),
    redirects: fc.option(fc.nat(20), { nil: undefined }),
    handler: fc.option(fc.string(), { nil: undefined }),
    carry: fc.option(fc.jsonValue(), { nil: undefined }),
    request: fc.option(
      fc.record({
        method: fc.constantFrom("GET", "POST"),
        headers: fc.dictionary(fc.string(), fc.string()),
        body: fc.string(),
      }),
      { nil: undefined },
    ),
  })
  .map(({ url, by, ...rest }): NewTask => {
    const site = { host: url.host, domain: url.hostname.split(".").slice(-2).join("."), unlike: "x.test" }[by];
    const { redirects, handler, carry, request, ...sure } = rest;
    return {
      ...{ url: url.href, site, queue: "fetch", priority: 5, ...sure },
      ...(redirects === undefined ? {} : { redirects }),
      ...(handler === undefined ? {} : { handler }),
      ...(carry === undefined ? {} : { carry }),
      ...(request === undefined ? {} : { request }),
    };
  });

describe("the body of a task", () => {
  it("omits the part of the URL that the site implies", () => {
    expect(encodeBody(aTask({ url: "https://a.test/x?y=1" }))).toBe("f0 s/x?y=1");
    expect(encodeBody(aTask({ url: "http://a.test/x", kind: "render", depth: 12, redirects: 2 }))).toBe("r12,2 h/x");
    expect(encodeBody(aTask({ url: "https://www.a.test/x" }))).toBe("f0 uhttps://www.a.test/x");
  });

  it("is decoded to the same task", () => {
    const same = fc.property(tasks, (task) => {
      const { url, site, kind, depth, redirects = 0, handler, carry, request } = task;
      expect(decodeBody(encodeBody(task), site)).toEqual({
        ...{ url, kind, depth, redirects },
        ...(handler === undefined ? {} : { handler }),
        // JSON does not distinguish 0 and -0.
        ...(carry === undefined ? {} : { carry: JSON.parse(JSON.stringify(carry)) }),
        ...(request === undefined ? {} : { request: JSON.parse(JSON.stringify(request)) }),
      });
    });
    fc.assert(same, { numRuns: 500 });
  });

  it("ends with its URL, so that a task can be found by it", () => {
    fc.assert(fc.property(tasks, (task) => encodeBody(task).endsWith(encodeUrl(task.url, task.site))));
  });
});
