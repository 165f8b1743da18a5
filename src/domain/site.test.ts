import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalUrl } from "./canonical-url.ts";
import { siteOf } from "./site.ts";

describe("siteOf by host", () => {
  it.each([
    ["http://a.test/", "a.test"],
    ["https://a.test/x?y=//z", "a.test"],
    ["https://a.test:80/", "a.test"],
    ["http://a.test:443/", "a.test"],
    ["http://a.test:8080/", "a.test:8080"],
    ["http://a.test:180/", "a.test:180"],
    ["http://www.a.test/", "www.a.test"],
    ["http://127.0.0.1:3000/x", "127.0.0.1:3000"],
    ["http://[::1]/", "[::1]"],
    ["http://[::80]:8080/", "[::80]:8080"],
    ["http://a.test", "a.test"],
  ])("puts %s in %s", (url, site) => {
    expect(siteOf(url, "host")).toBe(site);
  });

  it("is the host of the parsed URL, and the same for http and https", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (raw) => {
        const url = canonicalUrl(raw);
        if (url === undefined) return;
        expect(siteOf(url, "host")).toBe(new URL(url).host);
        expect(siteOf(url.replace(/^http:/, "https:"), "host")).toBe(siteOf(url.replace(/^https:/, "http:"), "host"));
      }),
    );
  });
});

describe("siteOf by domain", () => {
  it.each([
    ["https://shop.a.co.uk:8080/", "a.co.uk"],
    ["https://a.co.uk/", "a.co.uk"],
    ["https://deep.www.example.com/", "example.com"],
    ["https://x.xn--bcher-kva.de/", "xn--bcher-kva.de"],
    ["https://someone.github.io/", "github.io"],
    ["https://co.uk/", "co.uk"],
    ["http://localhost:3000/", "localhost:3000"],
    ["http://intranet/", "intranet"],
    ["http://127.0.0.1:3000/", "127.0.0.1:3000"],
    ["http://[2001:db8::1]:3000/", "[2001:db8::1]:3000"],
  ])("puts %s in %s", (url, site) => {
    expect(siteOf(url, "domain")).toBe(site);
  });
});
