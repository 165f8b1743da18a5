/** A page that sends every kind of request, the site that serves it, and listeners that must receive nothing. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";

export type Cleanups = (() => unknown)[];

/** The HTML of every kind of request that a page can send to `at` (`http://host:port`). Each has its own path. */
export const REQUEST_KINDS: Readonly<Record<string, (at: string, name: string) => string>> = {
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
  cssImport: (at, name) => `<style>@import url("${at}/${name}");</style>`,
  module: (at, name) => `<script type="module">import("${at}/${name}").catch(() => {})</script>`,
  modulePreload: (at, name) => `<link rel="modulepreload" href="${at}/${name}">`,
  embed: (at, name) => `<embed src="${at}/${name}" type="text/html">`,
  xhr: (at, name) => `<script>{ const x = new XMLHttpRequest(); x.open("GET", "${at}/${name}"); x.send() }</script>`,
  beacon: (at, name) => `<script>navigator.sendBeacon("${at}/${name}", "x")</script>`,
  eventSource: (at, name) => `<script>new EventSource("${at}/${name}")</script>`,
  webSocket: (at, name) => `<script>new WebSocket("${at.replace("http", "ws")}/${name}")</script>`,
  form: (at, name) =>
    `<iframe name="${name}At"></iframe><form id="${name}" method="post" target="${name}At" action="${at}/${name}">` +
    `</form><script>document.getElementById("${name}").submit()</script>`,
  worker: (at, name) =>
    `<script>new Worker(URL.createObjectURL(new Blob(["fetch('${at}/${name}', { mode: 'no-cors' })"])))</script>`,
  // Fetches from a service worker, where the driver cannot intercept requests.
  serviceWorker: (at, name) =>
    `<script>navigator.serviceWorker.register("/sw.js?" + encodeURIComponent("${at}/${name}"),` +
    ` { scope: "/" + Math.random() })</script>`,
  redirect: (at, name) => `<img src="/to?${encodeURIComponent(`${at}/${name}`)}">`,
  frameRedirect: (at, name) => `<iframe src="/to?${encodeURIComponent(`${at}/${name}`)}"></iframe>`,
};

/** Requests that may not reach a server as HTTP requests, so a test cannot expect them. Chromium blocks the popup. */
const SILENT_WAYS: readonly ((at: string) => string)[] = [
  (at) => `<link rel="preconnect" href="${at}"><link rel="dns-prefetch" href="${at}">`,
  (at) => `<svg><use href="${at}/use#x"/></svg><a ping="${at}/ping" href="#" id="pinging"></a>`,
  () => `<script>document.getElementById("pinging").click()</script>`,
  (at) =>
    `<script>{ const c = new RTCPeerConnection({ iceServers: [{ urls: "stun:${at.slice(7)}" },` +
    ` { urls: "turn:${at.slice(7)}?transport=tcp", username: "u", credential: "c" }] });` +
    ` c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)) }</script>`,
  (at) => `<script>window.open("${at}/popup")</script>`,
  (at) => `<link rel="icon" href="${at}/icon"><link rel="manifest" href="${at}/manifest">`,
  (at) =>
    `<script type="speculationrules">{"prefetch":[{"urls":["${at}/sp"]}],"prerender":[{"urls":["${at}/sr"]}]}</script>`,
  (at) => `<script>try { new WebTransport("${at.replace("http", "https")}/wt") } catch {}</script>`,
  (at) =>
    `<svg width="9" height="9"><filter id="f"><feImage href="${at}/fe"/></filter><rect filter="url(#f)" width="9" height="9"/></svg>`,
  (at) => `<script>fetch("${at.replace("http", "https")}/tls", { mode: "no-cors" }).catch(() => {})</script>`,
];

/** A page that sends every kind of request to both addresses. */
export function pageOf(own: string, forbidden: string): string {
  const ways = Object.entries(REQUEST_KINDS).flatMap(([name, way]) => [way(own, name), way(forbidden, name)]);
  const names = ways.map((html, n) =>
    n % 2 === 1 ? html.replaceAll(/(id|name|target)="(\w+)"/g, '$1="$2Two"') : html,
  );
  const renamed = names.map((html, n) => (n % 2 === 1 ? html.replaceAll(/ById\("(\w+)"\)/g, 'ById("$1Two")') : html));
  return `<!doctype html><body>${SILENT_WAYS.map((way) => way(forbidden)).join("\n")}${renamed.join("\n")}`;
}

/** Listens on one port of 127.0.0.2 for TCP and UDP. Records everything that arrives. */
export async function listenForbidden(cleanups: Cleanups): Promise<{ port: number; arrivals: string[] }> {
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

export async function serveAllowed(
  cleanups: Cleanups,
  page: (own: string) => string,
): Promise<{ origin: string; seen: Set<string> }> {
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
