import { describe, expect, it } from "vitest";
import { linksOf } from "./link-selector.ts";
import { parseDocument } from "./parse-html.ts";

describe("links by selector", () => {
  const dom = parseDocument(
    `<nav><a href="/1#top">1</a><p><a href="2">2</a></p><a name="x">x</a></nav><a href="/1">again</a><a href="ftp://f/">f</a><img src="i.png">`,
    "html",
  );

  it.each([
    ["a", ["https://a.example/1", "https://a.example/d/2"]],
    ["nav", ["https://a.example/1", "https://a.example/d/2"]],
    ["p", ["https://a.example/d/2"]],
    ["img", ["https://a.example/d/i.png"]],
    ["footer", []],
  ])("%s yields %j", (selector, links) => {
    expect(linksOf(dom, selector, "https://a.example/d/")).toEqual(links);
  });
});
