import { describe, expect, it } from "vitest";
import { needsBrowser } from "./needs-browser.ts";

const words = "content of a page that says a lot ".repeat(20);
const script = '<script src="/app.js"></script>';

describe("a page needs a browser", () => {
  it.each([
    ["with an empty root", `<title>shop</title><div id="root"></div>${script}`],
    ["with a root that says it is loading", `<div id="__next"><p>Loading…</p></div>${script}`],
    ["with an element of a framework", `<body><app-root></app-root>${script}`],
    ["that says so itself", `<noscript>You need to enable JavaScript to run this app.</noscript><p>x</p>${script}`],
    ["that says so the other way round", `<noscript>JavaScript must be enabled.</noscript><nav>home</nav>${script}`],
    ["with nothing but scripts", `<html><head>${script}</head><body></body></html>`],
    ["with styles and state, which nobody reads", `<style>${words}</style><div id=app></div><script>${words}</script>`],
    ["with a few words and a script", `<h1>Welcome</h1>${script}`],
  ])("%s", (_, html) => {
    expect(needsBrowser(html)).toBe(true);
  });

  it.each([
    ["that has content", `<p>${words}</p>${script}`],
    [
      "that was rendered on the server",
      `<div id="root"><p>${words}</p></div>${script}<noscript>Enable JavaScript</noscript>`,
    ],
    ["without scripts, however empty", "<title>x</title><p>gone</p>"],
    ["with scripts that are none", '<p>x</p><script type="application/ld+json">{}</script>'],
    ["that is a list of links", `<a href=1>1</a><a href=2>2</a><a href=3>3</a>${script}`],
    ["that shows another", `<iframe src="/inner"></iframe>${script}`],
    ["that goes elsewhere", `<meta http-equiv=refresh content="0;url=/a">${script}`],
    [
      "that counts visitors in a frame for those without scripts",
      `<p>${words}</p><noscript><iframe src=x></iframe></noscript>${script}`,
    ],
    ["that is empty", ""],
    ["that is no HTML", "just words"],
  ])("does not, %s", (_, html) => {
    expect(needsBrowser(html)).toBe(false);
  });

  it("is judged by its own body, not by a frame for those without scripts", () => {
    expect(needsBrowser(`<noscript><iframe src=x></iframe></noscript><div id=root></div>${script}`)).toBe(true);
  });

  it("never throws, whatever it is given", () => {
    for (const html of ["<", "<noscript>", "</noscript></noscript>", "<script>", "\0<a href>", "<body".repeat(1000)]) {
      expect(typeof needsBrowser(html)).toBe("boolean");
    }
  });
});
