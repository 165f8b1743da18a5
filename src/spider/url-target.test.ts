import { describe, expect, it } from "vitest";
import { isUrlTarget } from "./url-target.ts";

describe("a target of follow", () => {
  it.each([
    ...["https://shop.example/", "/sale/", "./next", "../up", "?page=2", "products/1", "p/1/reviews?sort=new"],
    ...["page-2.html", "index.htm", "list.php?page=2", "Default.aspx", "page.2.html#top"],
  ])("is a URL: %s", (target) => {
    expect(isUrlTarget(target)).toBe(true);
  });

  it.each([
    ...["a", ".next a", "a.next", "#next", "li > a", "a[href^='/p/']", "a[href$=.html]", ".product_pod h3 a"],
    ...["a:not([href*='/x/'])", ".w-1\\/2 a", "a.html", ".html", "div.pagination a, a.next", "my-card.wide"],
  ])("is a selector: %s", (target) => {
    expect(isUrlTarget(target)).toBe(false);
  });
});
