/** The HTTP listener for Prometheus, the only server of a worker. It serves only /metrics. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../../config/schema.ts";
import { listenError } from "../../runtime/listen-error.ts";
import { EXPOSITION_TYPE } from "../../runtime/metrics.ts";
import type { WorkerOutput } from "./worker-output.ts";

type Deps = {
  config: Pick<Config, "metricsHost" | "metricsPort">;
  output: Pick<WorkerOutput, "measured">;
  /** The current metrics in Prometheus text format. */
  text(): string;
};

/** Metrics are collected at most once in this time. */
const FRESH_MS = 1_000;
const MAX_CONNECTIONS = 50;
const REQUEST_TIMEOUT_MS = 10_000;

/** Listens while `work` runs, if the settings have a metrics port. Throws ADDRESS_TAKEN or BAD_CONFIG. */
export async function withMetrics<T>({ config, output, text }: Deps, work: () => Promise<T>): Promise<T> {
  const { metricsHost: host, metricsPort: port } = config;
  if (!Number.isFinite(port)) return work();
  const cached = { at: Number.NEGATIVE_INFINITY, text: "" };
  const timeouts = { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS };
  const server = createServer(timeouts, (request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (path !== "/metrics") return respond(response, 404, "text/plain", "metrics are at /metrics\n");
    if (request.method !== "GET" && request.method !== "HEAD") return respond(response, 405, "text/plain", "use GET\n");
    const now = performance.now();
    if (now - cached.at > FRESH_MS) Object.assign(cached, { at: now, text: text() });
    return respond(response, 200, EXPOSITION_TYPE, cached.text);
  });
  server.maxConnections = MAX_CONNECTIONS;
  try {
    await once(server.listen(port, host), "listening");
  } catch (cause) {
    throw listenError(cause as NodeJS.ErrnoException, { ...LISTENING, host, port });
  }
  server.unref(); // the listener must not keep the process alive
  const { port: actual } = server.address() as AddressInfo;
  output.measured(`http://${host.includes(":") ? `[${host}]` : host}:${actual}/metrics`);
  try {
    return await work();
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function respond(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": type, "x-content-type-options": "nosniff" }).end(body);
}

const LISTENING = {
  op: "metrics.listen",
  taken: "metrics cannot be served there; choose another --metrics-port (TRAWL_METRICS_PORT)",
  check: "TRAWL_METRICS_HOST and --metrics-port (TRAWL_METRICS_PORT)",
};
