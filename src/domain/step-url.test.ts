import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalUrl } from "./canonical-url.ts";
import { pageUrlOf, STEPS, stepOf, stepUrl } from "./step-url.ts";

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
