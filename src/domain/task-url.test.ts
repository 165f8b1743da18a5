import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalUrl } from "./canonical-url.ts";
import { pageUrlOf, requestUrl, STEPS, stepOf, stepUrl, urlsOfPage, withoutStep } from "./task-url.ts";

const canonical = fc
  .webUrl({ withFragments: true, withQueryParameters: true })
  .map((url) => canonicalUrl(url))
  .filter((url) => url !== undefined);

describe("the steps of a page", () => {
  it("have the URL of the page with the step as fragment", () => {
    expect(stepUrl("https://a.example/x?y=1", "parse")).toBe("https://a.example/x?y=1#parse");
    expect(stepOf("https://a.example/x#render")).toBe("render");
    expect(stepOf("https://a.example/x")).toBeUndefined();
    expect(stepOf("https://a.example/x#top")).toBeUndefined();
    expect(stepUrl("https://a.example/x", "parse", "t17")).toBe("https://a.example/x#parse-t17");
    expect(stepOf("https://a.example/x#parse-t17")).toBe("parse");
    expect(pageUrlOf("https://a.example/x#parse-t17")).toBe("https://a.example/x");
  });

  it("lead back to the page, and differ from its URL", () => {
    fc.assert(
      fc.property(canonical, fc.constantFrom(...STEPS), (url, step) => {
        const task = stepUrl(url, step);
        expect(pageUrlOf(task)).toBe(url);
        expect(stepOf(task)).toBe(step);
        expect(canonicalUrl(task)).toBe(url);
        expect(stepOf(url)).toBeUndefined();
        expect(pageUrlOf(url)).toBe(url);
      }),
    );
  });

  it("replace each other instead of accumulating", () => {
    fc.assert(
      fc.property(canonical, fc.array(fc.constantFrom(...STEPS), { minLength: 1 }), (url, steps) => {
        const last = steps.reduce<string>((task, step) => stepUrl(task, step), url);
        expect(last).toBe(`${url}#${steps.at(-1)}`);
      }),
    );
  });
});

describe("the URL of a request", () => {
  const post = { method: "POST", body: "a" } as const;

  it("differs from the URL of the page, and leads back to it", () => {
    fc.assert(
      fc.property(canonical, fc.constantFrom(...STEPS), (url, step) => {
        const task = requestUrl(url, post);
        expect(task).not.toBe(url);
        expect(requestUrl(url, undefined)).toBe(url);
        expect(pageUrlOf(task)).toBe(url);
        expect(stepOf(task)).toBeUndefined();
        const next = stepUrl(task, step, "t1");
        expect([pageUrlOf(next), withoutStep(next), stepOf(next)]).toEqual([url, task, step]);
        expect(stepUrl(next, step)).toBe(stepUrl(task, step));
      }),
    );
  });

  it("is listed with its steps among the URLs of a page", () => {
    const [page, task] = ["https://a.example/x", requestUrl("https://a.example/x", post)];
    const urls = urlsOfPage(page, [{ taskId: "t1", url: stepUrl(task, "render") }]);
    expect(urls[0]).toBe(page);
    expect(urls).toEqual(expect.arrayContaining([task, `${task}/render`, `${task}/parse-t1`, `${page}#parse`]));
    expect(new Set(urls).size).toBe(urls.length);
  });
});
