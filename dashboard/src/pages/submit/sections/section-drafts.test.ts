import { describe, expect, it } from "vitest";
import type { JobInput } from "../../../../../src/client/client.ts";
import { bodyProblem, entryOf, NO_REQUEST } from "./request-draft.ts";
import { sitemapsDraftOf, sitemapsIn } from "./sitemaps-draft.ts";

describe("the sitemaps of the job form", () => {
  it.each<JobInput["sitemaps"]>([
    undefined,
    true,
    ["https://a.example/sitemap.xml"],
    { from: true, since: "7d" },
    { from: ["https://a.example/"], since: "2026-01-31" },
  ])("do not change sitemaps that are read from JSON: %j", (sitemaps) => {
    expect(sitemapsIn(sitemapsDraftOf(sitemaps))).toEqual(sitemaps);
  });
});

describe("a request of the job form", () => {
  const url = "https://a.example/items";

  it("is a plain URL if it is a GET without headers", () => {
    expect(entryOf({ ...NO_REQUEST, url: ` ${url} ` })).toBe(url);
    expect(entryOf({ ...NO_REQUEST, url, method: "PUT" })).toEqual({ url, method: "PUT" });
  });

  it("has one body, as JSON, as a form or as text", () => {
    const draft = { ...NO_REQUEST, url, headers: { "x-key": "env:KEY" } };

    expect(entryOf({ ...draft, bodyKind: "json", bodyText: '{"page": 1}' })).toEqual({
      url,
      json: { page: 1 },
      headers: { "x-key": "env:KEY" },
    });
    expect(entryOf({ ...draft, headers: {}, bodyKind: "form", bodyText: "q: mug\nsort: price" })).toEqual({
      url,
      form: { q: "mug", sort: "price" },
    });
    expect(entryOf({ ...NO_REQUEST, url, bodyKind: "body", bodyText: "<a/>" })).toEqual({ url, body: "<a/>" });
  });

  it("names the problem of a body that is not valid", () => {
    expect(bodyProblem({ ...NO_REQUEST, bodyKind: "json", bodyText: "{ page" })).toMatch(/^This is not valid JSON/);
    expect(bodyProblem({ ...NO_REQUEST, bodyKind: "form", bodyText: "page" })).toContain("no colon");
    expect(bodyProblem({ ...NO_REQUEST, bodyKind: "body", bodyText: "{ page" })).toBeUndefined();
  });
});
