/** Tests options of rendered pages: actions, screenshots, limits on requests, and headers of the job. */
import { describe, expect, it } from "vitest";
import type { BrowserAction } from "../../src/domain/browser.ts";
import { pageText, useHarness } from "../contracts/fetcher/harness.ts";
import { always } from "../contracts/fetcher/misbehaving-server.ts";
import { startOrigin } from "../site/origin.ts";
import { CHROMIUM, openBrowserFetcher } from "./chromium.ts";

const HTML = { "content-type": "text/html" };
const SHOP = `<input id=q><button id=more>more</button><p id=list></p><div style="height: 3000px"></div><script>
  const add = (text) => document.getElementById("list").append(text + ";");
  let left = 3;
  document.getElementById("more").onclick = (e) => { add("clicked"); if (--left === 0) e.target.remove(); };
  document.getElementById("q").onkeydown = (e) => e.key === "Enter" && add("searched for " + e.target.value);
  let grown = 0;
  onscroll = () => { if (grown++ < 2) { add("grown"); document.body.style.minHeight = 3000 * (grown + 1) + "px"; } };
  setTimeout(() => { window.shop = { isReady: true }; add("ready"); }, 200);
</script>`;

describe.skipIf(CHROMIUM === undefined)("actions of the browser fetcher", () => {
  const click: BrowserAction = { kind: "click", selector: "#more", times: 10, isOptional: false };
  const show = useHarness(
    openBrowserFetcher({
      waitFor: { kind: "function", source: "window.shop.isReady === true" },
      actions: [
        { kind: "click", selector: "#cookies", times: 1, isOptional: true },
        click,
        { kind: "fill", selector: "#q", text: "lamps" },
        { kind: "press", key: "Enter" },
        { kind: "scroll", times: 3 },
        { kind: "await", selector: "#list" },
        { kind: "pause", ms: 10 },
      ],
      settleMs: 1_000,
    }),
  );
  const miss = useHarness(openBrowserFetcher({ actions: [{ ...click, selector: "#nowhere" }], settleMs: 300 }));

  it("waits for an expression, clicks until nothing matches, fills, presses and scrolls, in order", async () => {
    const { server, get } = await show();
    server.on("/a", always({ headers: HTML, body: SHOP }));

    const text = pageText(await get("/a"));

    expect(text).toMatch(/ready;(clicked;){3}searched for lamps;grown;/);
  });

  it("retries later if an action has no target, and names the action", async () => {
    const { server, get } = await miss();
    server.on("/a", always({ headers: HTML, body: SHOP }));

    const detail = expect.stringMatching(/^actions\.0: .*#nowhere/);
    expect(await get("/a")).toMatchObject({ kind: "retry", because: "timeout", detail });
  });
});

describe.skipIf(CHROMIUM === undefined)("screenshots of the browser fetcher", () => {
  const harness = useHarness(openBrowserFetcher({ screenshot: "page", pdf: true, block: [] }));

  it("returns the whole page as PNG and as PDF", async () => {
    const { server, get } = await harness();
    server.on("/a", always({ headers: HTML, body: "<div style='height: 2000px'>long</div>" }));

    const outcome = await get("/a");

    const { screenshot, pdf } = outcome.kind === "page" ? (outcome.pictures ?? {}) : {};
    expect(screenshot?.subarray(1, 4).toString()).toBe("PNG");
    expect(screenshot?.readUInt32BE(20)).toBeGreaterThan(1999); // the height of the picture
    expect(pdf?.subarray(0, 5).toString()).toBe("%PDF-");
  });
});

describe.skipIf(CHROMIUM === undefined)("the requests of a page", () => {
  const few = useHarness(openBrowserFetcher({ requests: 3 }));
  const little = useHarness(openBrowserFetcher({ bytes: 300_000, settleMs: 10_000 }));
  const scripts = (count: number) =>
    Array.from({ length: count }, (_, nth) => `<script src="/s${nth}.js"></script>`).join("");

  it("are limited in number, and the page is read without the others", async () => {
    const { server, get } = await few();
    server.on("/a", always({ headers: HTML, body: `<p>there</p>${scripts(9)}` }));

    expect(pageText(await get("/a"))).toContain("there");
    expect(server.requests).toHaveLength(1 + 3);
  });

  it("are limited in bytes, even in the middle of a response", async () => {
    const { server, get } = await little();
    const big = "//".padEnd(200_000, "x");
    for (let nth = 0; nth < 5; nth++)
      server.on(`/s${nth}.js`, always({ body: `${big}\ndocument.body.append("ran${nth}")` }));
    server.on("/a", always({ headers: HTML, body: `<p>there</p>${scripts(5)}` }));

    const text = pageText(await get("/a"));

    expect(text).toContain("there");
    expect(
      [0, 1, 2, 3, 4].filter((nth) => text.includes(`ran${nth}<`) || text.includes(`ran${nth}r`)).length,
    ).toBeLessThan(2);
  });
});

describe.skipIf(CHROMIUM === undefined)("the headers of a job in the browser", () => {
  const harness = useHarness(openBrowserFetcher({}));

  it("are sent only to the origin of the page, and not to another origin after a redirect", async () => {
    const { server, get } = await harness();
    const other = await startOrigin((_, response) => void response.writeHead(200).end("// nothing"));
    try {
      server.on("/s.js", always({ body: "fetch('/api')" }));
      server.on("/api", always({ body: "{}" }));
      server.on("/to", always({ status: 302, headers: { location: `${other.url}/redirected` } }));
      const body = `<script src=/s.js></script><script src=/to></script><script src=${other.url}/direct></script>`;
      server.on("/a", always({ headers: HTML, body }));

      await get("/a", { headers: { "x-mine": "1", authorization: "Bearer secret", "user-agent": "Own/1" } });

      const own = server.requests.map(({ path, headers }) => [path, headers["x-mine"], headers.authorization]);
      const paths = ["/a", "/api", "/s.js", "/to"];
      expect(own.sort()).toEqual(paths.map((path) => [path, "1", "Bearer secret"]));
      expect(other.log.map(({ path }) => path).sort()).toEqual(["/direct", "/redirected"]);
      expect(other.log.map(({ headers }) => [headers["x-mine"], headers.authorization])).toEqual([
        [undefined, undefined],
        [undefined, undefined],
      ]);
      expect(new Set([...server.requests, ...other.log].map(({ headers }) => headers["user-agent"]))).toEqual(
        new Set(["Own/1"]),
      );
    } finally {
      await other.close();
    }
  });
});
