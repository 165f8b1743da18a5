/**
 * Serves the benchmark's site from a process of its own: `node server.mjs <pages> <seed>`, started with an IPC channel.
 *
 * Every page is rendered before the first request, so that all contestants meet the same server. Requests are counted
 * per page. Messages: `reset` forgets the counts, `report` answers with them. It ends when its parent goes.
 */
import { createServer } from "node:http";
import { performance } from "node:perf_hooks";
import { createPages } from "./pages.mjs";

const ROBOTS = Buffer.from("User-agent: *\nAllow: /\n");
const EXAMPLES_MOST = 5;

const [pages, seed] = process.argv.slice(2).map(Number);
const site = renderSite(pages, seed);
const counts = new Uint32Array(pages);
const strays = new Map();
let idleMark = performance.eventLoopUtilization();

const server = createServer(answer);
// Longer than any pause of a contestant: a socket closed by us while a request is on its way would look like its error.
server.keepAliveTimeout = 120_000;
server.requestTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  process.send({ kind: "ready", port: server.address().port, bodyBytes: site.bodyBytes });
});
process.on("message", ({ kind }) => {
  if (kind === "reset") reset();
  process.send({ kind, report: report() });
});
process.on("disconnect", () => process.exit(0));

function renderSite(pages, seed) {
  const { pathOf, render } = createPages({ pages, seed });
  const indexOf = new Map();
  const bodies = [];
  let bodyBytes = 0;
  for (let index = 0; index < pages; index += 1) {
    const body = Buffer.from(render(index));
    indexOf.set(pathOf(index), index);
    bodies.push(body);
    bodyBytes += body.length;
  }
  return { indexOf, bodies, bodyBytes, pathOf };
}

function answer(request, response) {
  const index = site.indexOf.get(request.url);
  if (index !== undefined && request.method === "GET") {
    counts[index] += 1;
    send(response, 200, "text/html; charset=utf-8", site.bodies[index]);
    return;
  }
  const asked = `${request.method} ${request.url}`;
  strays.set(asked, (strays.get(asked) ?? 0) + 1);
  if (request.url === "/robots.txt") send(response, 200, "text/plain; charset=utf-8", ROBOTS);
  else send(response, 404, "text/plain; charset=utf-8", Buffer.from("not found\n"));
}

function send(response, status, contentType, body) {
  response.writeHead(status, { "content-type": contentType, "content-length": body.length });
  response.end(body);
}

function reset() {
  counts.fill(0);
  strays.clear();
  idleMark = performance.eventLoopUtilization();
}

function report() {
  const missed = [];
  const repeated = [];
  let requests = 0;
  let missedPages = 0;
  let repeatedPages = 0;
  for (let index = 0; index < pages; index += 1) {
    requests += counts[index];
    if (counts[index] === 0 && ++missedPages <= EXAMPLES_MOST) missed.push(site.pathOf(index));
    if (counts[index] > 1 && ++repeatedPages <= EXAMPLES_MOST) repeated.push(site.pathOf(index));
  }
  return {
    pages,
    requests,
    fetchedPages: pages - missedPages,
    missedPages,
    missed,
    repeatedPages,
    repeated,
    strays: Object.fromEntries([...strays].slice(0, 20)),
    busyShare: performance.eventLoopUtilization(idleMark).utilization,
  };
}
