/** Rendering with a real Chromium and a misbehaving server. */
import { describe, expect, it } from "vitest";
import { type Harness, LIMITS, pageText, useHarness } from "../contracts/fetcher/harness.ts";
import { always } from "../contracts/fetcher/misbehaving-server.ts";
import { CHROMIUM, openBrowserFetcher } from "./chromium.ts";

const HTML = { "content-type": "text/html" };

describe.skipIf(CHROMIUM === undefined)("the browser fetcher", () => {
  const harness = useHarness(openBrowserFetcher({}));

  it("returns the page after its scripts have run, as UTF-8, with the status and headers of the response", async () => {
    const { server, get } = await harness();
    const body = Buffer.from("<title>x</title><p>caf\xe9</p><script src=/s.js></script>", "latin1");
    server.on(
      "/a",
      always({ status: 203, headers: { "content-type": "text/html; charset=latin1", "x-y": "z" }, body }),
    );
    server.on("/s.js", always({ body: "document.body.append('made here')" }));

    const outcome = await get("/a");

    expect(outcome).toMatchObject({
      page: { url: `${server.origin}/a`, status: 203, contentType: "text/html; charset=utf-8" },
    });
    expect(outcome).toMatchObject({ page: { headers: { "x-y": "z", "content-type": "text/html; charset=latin1" } } });
    const html = outcome.kind === "page" ? outcome.body.toString("utf8") : "";
    expect(html).toMatch(/<p>café<\/p>.*made here/);
    expect(outcome).toMatchObject({ page: { bodyBytes: Buffer.byteLength(html) } });
    expect(server.requests.filter(({ path }) => path === "/a")).toHaveLength(1);
  });

  it("sets the cookies of the response for the page, and keeps none for the next page", async () => {
    const { server, get } = await harness();
    const body = "<p><script>document.body.append('cookies: ' + document.cookie + '.')</script>";
    server.on("/a", always({ headers: { ...HTML, "set-cookie": ["a=1", "b=2"] }, body }));
    server.on("/b", always({ headers: HTML, body }));

    expect(pageText(await get("/a"))).toContain("cookies: a=1; b=2.");
    expect(pageText(await get("/b"))).toContain("cookies: .");
  });

  it("requests no images, fonts or media", async () => {
    const { server, get } = await harness();
    const elements =
      "<img src=/i><video src=/v></video><style>@font-face{font-family:f;src:url(/f)}p{font-family:f}</style>";
    server.on("/a", always({ headers: HTML, body: `${elements}<p>text</p><script src=/s.js></script>` }));
    await get("/a");

    expect(server.requests.map(({ path }) => path)).toEqual(["/a", "/s.js"]);
  });

  it("returns the address to which a script navigates as a redirect, and does not request it", async () => {
    const { server, get } = await harness();
    server.on("/old", always({ headers: HTML, body: "<script>location.href = '/new?a#b'</script>" }));

    expect(await get("/old")).toMatchObject({ kind: "redirect", to: `${server.origin}/new?a`, page: { status: 200 } });
    expect(server.requests.map(({ path }) => path)).toEqual(["/old"]);
  });

  it("reads a page that never becomes idle, after settleMs", async () => {
    const { server, get } = await harness();
    server.on("/never", () => {});
    server.on("/a", always({ headers: HTML, body: "<p>there</p><script async src=/never></script>" }));

    expect(pageText(await get("/a"))).toContain("<p>there</p>");
  });

  it("aborts a page whose script does not end in time, and continues with others", async () => {
    const { server, get } = await harness();
    server.on("/fine", always({ headers: HTML, body: "<p>fine</p>" }));
    server.on("/loop", always({ headers: HTML, body: "<script>for (;;);</script>" }));
    expect(pageText(await get("/fine"))).toContain("fine");

    expect(await get("/loop", { limits: { ...LIMITS, totalMs: 2_000 } })).toMatchObject({
      kind: "retry",
      because: "timeout",
    });
    expect(pageText(await get("/fine"))).toContain("fine");
  });

  it("dismisses dialogs, closes windows and refuses downloads", async () => {
    const { server, get } = await harness();
    const script = "document.body.append(String(confirm('sure?')) + prompt('who?')); location.href = '/file'";
    server.on(
      "/a",
      always({ headers: HTML, body: `<p></p><script>alert(1); window.open('/popup'); ${script}</script>` }),
    );
    server.on(
      "/b",
      always({ headers: HTML, body: "<a download href=/file>x</a><script>document.links[0].click()</script>" }),
    );

    expect(await get("/a")).toMatchObject({ kind: "redirect" });
    await get("/b");
    expect(server.requests.map(({ path }) => path)).not.toContain("/popup");
  });

  it.each([
    ["JSON", { "content-type": "application/json" }, '{"a":1}'],
    ["text", { "content-type": "text/plain" }, "<p>no html</p>"],
    ["nothing", HTML, ""],
  ])("returns %s unchanged", async (_, headers, body) => {
    const { server, get } = await harness();
    server.on("/raw", always({ headers, body }));

    expect(pageText(await get("/raw"))).toBe(body);
  });

  it("aborts a page that exceeds limits.bodyBytes", async () => {
    const { server, get } = await harness();
    server.on("/a", always({ headers: HTML, body: "<p><script>document.body.append('x'.repeat(5000))</script>" }));

    expect(await get("/a", { limits: { ...LIMITS, bodyBytes: 5_000 } })).toMatchObject({ because: "too_big" });
  });

  it("ends at once when aborted while rendering", async () => {
    const { server, get } = await harness();
    const aborter = new AbortController();
    server.on("/never", () => aborter.abort(new Error("enough")));
    server.on("/a", always({ headers: HTML, body: "<script src=/never></script>" }));

    await expect(get("/a", { signal: aborter.signal })).rejects.toThrow("enough");
  });
});

describe.skipIf(CHROMIUM === undefined)("waiting until the network is idle", () => {
  const harness = useHarness(openBrowserFetcher({ waitFor: { kind: "idle" } }));

  it("reads content that the page fetched after it had loaded", async () => {
    const { server, get } = await harness();
    const script = "fetch('/late').then((a) => a.text()).then((text) => document.body.append(text))";
    server.on("/late", always({ body: "came late" }));
    server.on("/a", always({ headers: HTML, body: `<p><script>onload = () => ${script}</script>` }));

    expect(pageText(await get("/a"))).toContain("came late");
  });

  it.each([
    ["a meta element", "<meta http-equiv=refresh content='0; url=/new'>", {}],
    ["a header", "<p>x</p>", { refresh: "0; url=/new" }],
  ])("returns the target of a refresh in %s as a redirect", async (_, body, more) => {
    const { server, get } = await harness();
    server.on("/old", always({ headers: { ...HTML, ...more }, body }));

    expect(await get("/old")).toMatchObject({ kind: "redirect", to: `${server.origin}/new` });
    expect(server.requests.map(({ path }) => path)).toEqual(["/old"]);
  });
});

describe.skipIf(CHROMIUM === undefined)("waiting for an element", () => {
  const harness = useHarness(
    openBrowserFetcher({ waitFor: { kind: "selector", selector: "#there" }, settleMs: 2_000 }),
  );
  const late = (id: string) => `<script>setTimeout(() => document.body.innerHTML = '<b id=${id}>', 100)</script>`;
  const show = ({ server }: Harness, id: string) => server.on("/a", always({ headers: HTML, body: `<p>${late(id)}` }));

  it("reads the page when the element exists", async () => {
    const opened = await harness();
    show(opened, "there");

    expect(pageText(await opened.get("/a"))).toContain('id="there"');
  });

  it("retries later if the element does not appear", async () => {
    const opened = await harness();
    show(opened, "elsewhere");

    expect(await opened.get("/a")).toMatchObject({
      kind: "retry",
      because: "timeout",
      detail: expect.stringContaining("#there"),
    });
  });
});
