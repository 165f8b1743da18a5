import { describe, expect, it } from "vitest";
import { needsBrowser } from "./needs-browser.ts";

const text = "content of a page with a lot of text ".repeat(20);
const script = '<script src="/app.js"></script>';

describe("needsBrowser", () => {
  it.each([
    ["with an empty root", `<title>shop</title><div id="root"></div>${script}`],
    ["with a root that contains only a loading message", `<div id="__next"><p>Loading…</p></div>${script}`],
    ["with an element of a framework", `<body><app-root></app-root>${script}`],
    [
      "that asks for JavaScript",
      `<noscript>You need to enable JavaScript to run this app.</noscript><p>x</p>${script}`,
    ],
    [
      "that states that JavaScript is required",
      `<noscript>JavaScript must be enabled.</noscript><nav>home</nav>${script}`,
    ],
    ["with nothing but scripts", `<html><head>${script}</head><body></body></html>`],
    ["with styles and state, but no visible text", `<style>${text}</style><div id=app></div><script>${text}</script>`],
    ["with a few words and a script", `<h1>Welcome</h1>${script}`],
  ])("is true for a page %s", (_, html) => {
    expect(needsBrowser(html)).toBe(true);
  });

  it.each([
    ["that has content", `<p>${text}</p>${script}`],
    [
      "that was rendered on the server",
      `<div id="root"><p>${text}</p></div>${script}<noscript>Enable JavaScript</noscript>`,
    ],
    ["without scripts, however empty", "<title>x</title><p>gone</p>"],
    ["with a script element that only contains data", '<p>x</p><script type="application/ld+json">{}</script>'],
    ["that is a list of links", `<a href=1>1</a><a href=2>2</a><a href=3>3</a>${script}`],
    ["that shows another page in a frame", `<iframe src="/inner"></iframe>${script}`],
    ["that redirects by a meta tag", `<meta http-equiv=refresh content="0;url=/a">${script}`],
    [
      "with content, and a frame inside noscript",
      `<p>${text}</p><noscript><iframe src=x></iframe></noscript>${script}`,
    ],
    ["that is empty", ""],
    ["that is not HTML", "just words"],
  ])("is false for a page %s", (_, html) => {
    expect(needsBrowser(html)).toBe(false);
  });

  it("is true for a page with an empty root, even with a frame inside noscript", () => {
    expect(needsBrowser(`<noscript><iframe src=x></iframe></noscript><div id=root></div>${script}`)).toBe(true);
  });

  it("never throws, whatever the page contains", () => {
    for (const html of ["<", "<noscript>", "</noscript></noscript>", "<script>", "\0<a href>", "<body".repeat(1000)]) {
      expect(typeof needsBrowser(html)).toBe("boolean");
    }
  });
});
