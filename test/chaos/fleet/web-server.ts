/** Serves all sites of a fleet from one process. Each site has its own address; all use the same port. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { preciseNow } from "../../site/origin.ts";
import type { IdleWatch } from "../rate-excess.ts";
import { seededRandom } from "../seeded-random.ts";
import type { FleetLogWriter } from "./fleet-log.ts";
import { DISALLOWED_PREFIX, htmlOf, numberOf, planWeb, ROBOTS, type SitePlan, type WebOptions } from "./sites.ts";

export type WebServer = { web: SitePlan[]; close(): Promise<void> };

type Deps = { log: FleetLogWriter; idleWatch: Pick<IdleWatch, "lastIdleAt"> };

/** With `port` 0, the first site listens on a free port, and the other sites on the same port number. */
export async function startWeb({ log, idleWatch }: Deps, options: WebOptions): Promise<WebServer> {
  const random = seededRandom(options.seed);
  let web: SitePlan[] = planWeb(options);
  const servers: Server[] = [];
  let { port } = options;
  for (const [index, { host }] of web.entries()) {
    const server = createServer((request, response) => {
      logRequest(request, response, web[index]?.site ?? "");
      const answer = answerTo(web, index, request.url ?? "", random.next());
      setTimeout(() => send(response, answer), answer.delayMs);
    });
    servers.push(server);
    port = await listen(server, host, port);
  }
  web = planWeb({ ...options, port });

  function logRequest(request: IncomingMessage, response: ServerResponse, site: string): void {
    const { url: path = "", headers, socket } = request;
    const worker = headers["user-agent"] ?? "";
    const start = { site, path, worker, from: socket.remoteAddress ?? "", arrivedAfter: idleWatch.lastIdleAt() };
    const logEnd = log.onArrival({ ...start, arrivedAt: preciseNow() });
    let isOver = false;
    const end = (isAnswered: boolean) => {
      if (isOver) return;
      isOver = true;
      const endedAt = preciseNow();
      // The end of a response is exact. The server may notice a disconnect late.
      if (isAnswered) logEnd({ endedAt, overFrom: endedAt, status: response.statusCode });
      else logEnd({ endedAt, overFrom: idleWatch.lastIdleAt(), status: 0 });
    };
    response.once("finish", () => end(true));
    response.once("close", () => end(false));
  }

  return { web, close: async () => void (await Promise.all(servers.map(closeServer))) };
}

type Answer = { status: number; type: string; body: string; delayMs: number };

/** `chance`, from 0 to 1, selects the delay of a page within the range of its site. */
function answerTo(web: readonly SitePlan[], index: number, path: string, chance: number): Answer {
  const site = web[index];
  if (path === "/robots.txt") return { status: 200, type: "text/plain", body: ROBOTS, delayMs: 0 };
  if (path.startsWith(DISALLOWED_PREFIX))
    return { status: 200, type: "text/html", body: "<h1>Private</h1>", delayMs: 0 };
  const number = site === undefined ? undefined : numberOf(path, site);
  if (site === undefined || number === undefined) return { status: 404, type: "text/plain", body: "", delayMs: 0 };
  const { least, max } = site.delayMs;
  const delayMs = least + chance * (max - least);
  return { status: 200, type: "text/html", body: htmlOf(web, index, number), delayMs };
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  if (response.destroyed) return; // the client has disconnected
  response.writeHead(status, { "content-type": `${type}; charset=utf-8`, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
