/** Whatever a page does, nothing of it arrives where the egress gate does not let it. Real Chromium, real listeners. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { launchBrowser } from "../../src/fetch/browser/launch-browser.ts";
import { parseNetworks } from "../../src/fetch/egress/address.ts";
import { createEgressGate } from "../../src/fetch/egress/gate.ts";
import { waitUntil } from "../services/wait-until.ts";
import { CHROMIUM, LAUNCH } from "./chromium.ts";

/** Every way a page has to the network, to `at` (`http://host:port`), each asking for a path of its own. */
const WAYS: Readonly<Record<string, (at: string, name: string) => string>> = {
  img: (at, name) => `<img src="${at}/${name}">`,
  iframe: (at, name) => `<iframe src="${at}/${name}"></iframe>`,
  script: (at, name) => `<script src="${at}/${name}"></script>`,
  stylesheet: (at, name) => `<link rel="stylesheet" href="${at}/${name}">`,
  css: (at, name) => `<div style="background: url(${at}/${name}); width: 9px; height: 9px"></div>`,
  svgImage: (at, name) => `<svg width="9" height="9"><image href="${at}/${name}" width="9" height="9"/></svg>`,
  video: (at, name) => `<video src="${at}/${name}" preload="auto"></video>`,
  object: (at, name) => `<object data="${at}/${name}"></object>`,
  preload: (at, name) => `<link rel="preload" as="fetch" crossorigin href="${at}/${name}">`,
  prefetch: (at, name) => `<link rel="prefetch" href="${at}/${name}">`,
  fetch: (at, name) => `<script>fetch("${at}/${name}", { mode: "no-cors" }).catch(() => {})</script>`,
  xhr: (at, name) => `<script>{ const x = new XMLHttpRequest(); x.open("GET", "${at}/${name}"); x.send() }</script>`,
  beacon: (at, name) => `<script>navigator.sendBeacon("${at}/${name}", "x")</script>`,
  eventSource: (at, name) => `<script>new EventSource("${at}/${name}")</script>`,
  webSocket: (at, name) => `<script>new WebSocket("${at.replace("http", "ws")}/${name}")</script>`,
  form: (at, name) =>
    `<iframe name="${name}At"></iframe><form id="${name}" method="post" target="${name}At" action="${at}/${name}">` +
    `</form><script>document.getElementById("${name}").submit()</script>`,
  worker: (at, name) =>
    `<script>new Worker(URL.createObjectURL(new Blob(["fetch('${at}/${name}', { mode: 'no-cors' })"])))</script>`,
  // Fetches what it is told to, from a service worker, where no interception by the driver sees it.
  serviceWorker: (at, name) =>
    `<script>navigator.serviceWorker.register("/sw.js?" + encodeURIComponent("${at}/${name}"),` +
    ` { scope: "/" + Math.random() })</script>`,
  redirect: (at, name) => `<img src="/to?${encodeURIComponent(`${at}/${name}`)}">`,
  frameRedirect: (at, name) => `<iframe src="/to?${encodeURIComponent(`${at}/${name}`)}"></iframe>`,
};

/** These ask for no path, are seen only as connections, or not even that; Chromium itself blocks the popup. */
const SILENT_WAYS: readonly ((at: string) => string)[] = [
  (at) => `<link rel="preconnect" href="${at}"><link rel="dns-prefetch" href="${at}">`,
  (at) => `<svg><use href="${at}/use#x"/></svg><a ping="${at}/ping" href="#" id="pinging"></a>`,
  () => `<script>document.getElementById("pinging").click()</script>`,
  (at) =>
    `<script>{ const c = new RTCPeerConnection({ iceServers: [{ urls: "stun:${at.slice(7)}" },` +
    ` { urls: "turn:${at.slice(7)}?transport=tcp", username: "u", credential: "c" }] });` +
    ` c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)) }</script>`,
  (at) => `<script>window.open("${at}/popup")</script>`,
  (at) => `<script>fetch("${at.replace("http", "https")}/tls", { mode: "no-cors" }).catch(() => {})</script>`,
];

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.skipIf(CHROMIUM === undefined)("a page in the browser", () => {
  it.each([
    ["an address", (port: number) => `http://127.0.0.2:${port}`],
    ["a name that resolves to it", (port: number) => `http://forbidden.test:${port}`],
    ["a name of this machine", (port: number) => `http://localhost:${port}`],
  ])("reaches nothing at a forbidden host by %s, though it tries every way", async (_, forbiddenAt) => {
    const forbidden = await listenForbidden();
    const at = forbiddenAt(forbidden.port);
    const allowed = await serveAllowed((own) => pageOf(own, at));
    const { context, proxy } = await openBrowser();
    const page = await context.newPage();
    await page.goto(proxy.welcomeUrl);

    await page.goto(`${allowed.origin}/`);

    const missing = () => Object.keys(WAYS).filter((name) => !allowed.seen.has(`/${name}`));
    await waitUntil(() => missing().length === 0, 20_000);
    expect(missing()).toEqual([]); // or the page would prove nothing about the other host
    const wanted = Object.keys(WAYS).length;
    await waitUntil(() => proxy.counts().refused >= wanted, 20_000);
    expect(proxy.counts().refused).toBeGreaterThanOrEqual(wanted);
    expect(forbidden.arrivals).toEqual([]);
  });
});

function pageOf(own: string, forbidden: string): string {
  const ways = Object.entries(WAYS).flatMap(([name, way]) => [way(own, name), way(forbidden, name)]);
  const names = ways.map((html, n) =>
    n % 2 === 1 ? html.replaceAll(/(id|name|target)="(\w+)"/g, '$1="$2Two"') : html,
  );
  const renamed = names.map((html, n) => (n % 2 === 1 ? html.replaceAll(/ById\("(\w+)"\)/g, 'ById("$1Two")') : html));
  return `<!doctype html><body>${SILENT_WAYS.map((way) => way(forbidden)).join("\n")}${renamed.join("\n")}`;
}

async function openBrowser() {
  const gate = createEgressGate(
    { lookup: async () => ["127.0.0.2"] },
    { allowNetworks: parseNetworks("127.0.0.1").networks, allowHosts: [], connectMs: 5_000 },
  );
  const launched = await launchBrowser(gate, LAUNCH);
  cleanups.push(launched.end);
  return { context: await launched.browser.newContext(), proxy: launched.proxy };
}

/** TCP and UDP on one port of 127.0.0.2, and TCP on the same port of ::1 if there is one: whatever comes is written down. */
async function listenForbidden(): Promise<{ port: number; arrivals: string[] }> {
  const arrivals: string[] = [];
  const server = createServer((socket: Socket) => {
    arrivals.push("tcp");
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => arrivals.push(bytes.toString("latin1").slice(0, 100)));
  });
  server.listen(0, "127.0.0.2");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const udp = createSocket("udp4", () => arrivals.push("udp"));
  udp.bind(port, "127.0.0.2");
  await once(udp, "listening");
  cleanups.push(
    () => server.close(),
    () => udp.close(),
  );
  return { port, arrivals };
}

async function serveAllowed(page: (own: string) => string): Promise<{ origin: string; seen: Set<string> }> {
  const seen = new Set<string>();
  const server = createHttpServer((request, response) => answer(request, response));
  server.on("upgrade", (request, socket) => {
    seen.add(request.url ?? "");
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cleanups.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );

  function answer({ url = "" }: IncomingMessage, response: ServerResponse): void {
    const { pathname, search } = new URL(url, origin);
    seen.add(pathname);
    const given = decodeURIComponent(search.slice(1));
    if (pathname === "/") response.writeHead(200, { "content-type": "text/html" }).end(page(origin));
    else if (pathname === "/to") response.writeHead(302, { location: given }).end();
    else if (pathname === "/sw.js") {
      response.writeHead(200, { "content-type": "text/javascript", "service-worker-allowed": "/" });
      response.end(`fetch(${JSON.stringify(given)}, { mode: "no-cors" }).catch(() => {})`);
    } else response.writeHead(200, { "access-control-allow-origin": "*" }).end();
  }

  return { origin, seen };
}
