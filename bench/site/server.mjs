/**
 * Serves the site of the benchmark from a separate process: `node server.mjs <pages> <seed>`, started with an IPC
 * channel.
 *
 * Every page is rendered before the first request, so that the server is the same for all contestants. The server
 * counts the requests per page. The message `reset` sets the counts to 0; the reply to every message contains them. The
 * process ends when its parent disconnects.
 */
import { createServer } from "node:http";
import { performance } from "node:perf_hooks";
import { createPages } from "./pages.mjs";

const ROBOTS = Buffer.from("User-agent: *\nAllow: /\n");
const EXAMPLES_MAX = 5;

const [pages, seed] = process.argv.slice(2).map(Number);
const site = renderSite(pages, seed);
const counts = new Uint32Array(pages);
const otherRequests = new Map();
let idleMark = performance.eventLoopUtilization();

const server = createServer(answer);
// Longer than any pause of a contestant. If the server closed a socket while a request is on its way, that would look
// like an error of the contestant.
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
  const line = `${request.method} ${request.url}`;
  otherRequests.set(line, (otherRequests.get(line) ?? 0) + 1);
  if (request.url === "/robots.txt") send(response, 200, "text/plain; charset=utf-8", ROBOTS);
  else send(response, 404, "text/plain; charset=utf-8", Buffer.from("not found\n"));
}

function send(response, status, contentType, body) {
  response.writeHead(status, { "content-type": contentType, "content-length": body.length });
  response.end(body);
}

function reset() {
  counts.fill(0);
  otherRequests.clear();
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
    if (counts[index] === 0 && ++missedPages <= EXAMPLES_MAX) missed.push(site.pathOf(index));
    if (counts[index] > 1 && ++repeatedPages <= EXAMPLES_MAX) repeated.push(site.pathOf(index));
  }
  return {
    pages,
    requests,
    fetchedPages: pages - missedPages,
    missedPages,
    missed,
    repeatedPages,
    repeated,
    otherRequests: Object.fromEntries([...otherRequests].slice(0, 20)),
    busyShare: performance.eventLoopUtilization(idleMark).utilization,
  };
}
