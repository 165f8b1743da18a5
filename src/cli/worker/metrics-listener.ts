/** Where Prometheus asks workers: a listener of its own, since workers have no other. It answers /metrics, and no one else. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../../config/schema.ts";
import { cannotListen } from "../../runtime/cannot-listen.ts";
import { EXPOSITION_TYPE } from "../../runtime/metrics.ts";
import type { Voice } from "./voice.ts";

type Measuring = {
  config: Pick<Config, "metricsHost" | "metricsPort">;
  voice: Pick<Voice, "measured">;
  /** What is told. */
  text(): string;
};

/** However often it is asked, it looks once in this time. */
const FRESH_MS = 1_000;
const CONNECTIONS_MOST = 50;
const PATIENCE_MS = 10_000;

/** Listens while `work` goes on, where the settings name a port. Throws ADDRESS_TAKEN or BAD_CONFIG. */
export async function withMetrics<T>({ config, voice, text }: Measuring, work: () => Promise<T>): Promise<T> {
  const { metricsHost: host, metricsPort: port } = config;
  if (!Number.isFinite(port)) return work();
  const told = { at: Number.NEGATIVE_INFINITY, text: "" };
  const server = createServer({ requestTimeout: PATIENCE_MS, headersTimeout: PATIENCE_MS }, (request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/metrics") return answer(response, 404, "text/plain", "metrics are at /metrics\n");
    if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405, "text/plain", "GET it\n");
    const now = performance.now();
    if (now - told.at > FRESH_MS) Object.assign(told, { at: now, text: text() });
    return answer(response, 200, EXPOSITION_TYPE, told.text);
  });
  server.maxConnections = CONNECTIONS_MOST;
  try {
    await once(server.listen(port, host), "listening");
  } catch (cause) {
    throw cannotListen(cause as NodeJS.ErrnoException, { ...LISTENING, host, port });
  }
  server.unref(); // it serves the work, and does not keep it from ending
  const { port: taken } = server.address() as AddressInfo;
  voice.measured(`http://${host.includes(":") ? `[${host}]` : host}:${taken}/metrics`);
  try {
    return await work();
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff" }).end(body);
}

const LISTENING = {
  op: "metrics.listen",
  taken: "nobody could ask for metrics there; choose another --metrics-port (TRAWL_METRICS_PORT)",
  check: "TRAWL_METRICS_HOST and --metrics-port (TRAWL_METRICS_PORT)",
};
