/** Reads rendered pages and evaluates selectors on them, even if the page interferes. */
import { describe, expect, it } from "vitest";
import { pageText, useHarness } from "../contracts/fetcher/harness.ts";
import { always } from "../contracts/fetcher/misbehaving-server.ts";
import { CHROMIUM, openBrowserFetcher } from "./chromium.ts";

const HTML = { "content-type": "text/html" };
const waiting = (selector: string) =>
  useHarness(openBrowserFetcher({ waitFor: { kind: "selector", selector }, settleMs: 2_000 }));
/** Adds an element late, and sets its class later still. */
const LATER = `<script>setTimeout(() => {
  document.body.innerHTML = "<p id=late>text</p>";
  setTimeout(() => { document.getElementById("late").className = "price"; }, 50);
}, 50)</script>`;

describe.skipIf(CHROMIUM === undefined)("a rendered page", () => {
  const plain = waiting("p");
  const late = waiting(".price");
  const inShadow = waiting(".inside");
  const byText = waiting("text=exactly this");
  const nowhere = waiting(".nowhere");

  it("is read as the whole document, including its doctype", async () => {
    const { server, get } = await plain();
    server.on("/a", always({ headers: HTML, body: "<!doctype html><title>t</title><p>text</p>" }));

    expect(pageText(await get("/a"))).toBe(
      "<!DOCTYPE html><html><head><title>t</title></head><body><p>text</p></body></html>",
    );
  });

  it("is read correctly although it overrides the functions that read it", async () => {
    const { server, get } = await plain();
    const lies = `<script>
      Document.prototype.querySelector = () => null;
      Object.defineProperty(Element.prototype, "outerHTML", { get: () => "nothing here" });
    </script><form name="documentElement"></form><p>text</p>`;
    server.on("/a", always({ headers: HTML, body: lies }));

    const text = pageText(await get("/a"));

    expect(text).toContain("<p>text</p>");
    expect(text).toMatch(/^<html>/);
  });

  it("is read as soon as an element matches the selector, even if the element existed before it matched", async () => {
    const { server, get } = await late();
    server.on("/a", always({ headers: HTML, body: LATER }));

    expect(pageText(await get("/a"))).toContain('class="price"');
  });

  it("is searched for the selector, including its shadow roots", async () => {
    const { server, get } = await inShadow();
    const shadow = `<div id=host>host</div><script>
      document.getElementById("host").attachShadow({ mode: "open" }).innerHTML = "<p class=inside>deep</p>";
    </script>`;
    server.on("/a", always({ headers: HTML, body: shadow }));

    expect(await get("/a")).toMatchObject({ kind: "page" });
  });

  it("is searched for selectors that only Playwright supports", async () => {
    const { server, get } = await byText();
    server.on("/a", always({ headers: HTML, body: "<p>exactly this</p>" }));

    expect(await get("/a")).toMatchObject({ kind: "page" });
  });

  it("is retried later if nothing matches in time", async () => {
    const { server, get } = await nowhere();
    server.on("/a", always({ headers: HTML, body: "<p>text</p>" }));

    const detail = "nothing on the page matched .nowhere within 2000 ms";
    expect(await get("/a")).toMatchObject({ kind: "retry", because: "timeout", detail });
  });

  it("is read after it has replaced its document by an empty one", async () => {
    const { server, get } = await late();
    const moving = `<script>setTimeout(() => {
      document.open();
      document.write("<p class=price>second</p>");
      document.close();
    }, 50)</script>`;
    server.on("/a", always({ headers: HTML, body: moving }));

    expect(pageText(await get("/a"))).toContain("second");
  });
});
