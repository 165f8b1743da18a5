/**
 * Metrics for Prometheus. They cover all tenants, so they require a key without a tenant. The scope is `read` and not
 * `admin`, because an admin key should not be in the configuration of a monitoring system.
 */
import type { Config } from "../../config/schema.ts";
import { TrawlError } from "../../errors.ts";
import { EXPOSITION_TYPE } from "../../runtime/metrics.ts";
import type { ServerMeter } from "../metrics/server-meter.ts";
import { streamFrom } from "../response-stream.ts";
import { type ApiRoute, defineRoute } from "../route.ts";

export function metricsRoutes(
  meter: Pick<ServerMeter, "text">,
  { metricsOpen }: Pick<Config, "metricsOpen">,
): ApiRoute[] {
  return [
    defineRoute({
      method: "GET",
      path: "/metrics",
      scope: metricsOpen ? "open" : "read",
      tag: "Health",
      summary: "Metrics, for Prometheus",
      description:
        "Requires a key without a tenant, unless TRAWL_METRICS_OPEN is set. docs/metrics.md describes the metrics.",
      responses: { 200: { description: "The metrics in the Prometheus text format 0.0.4.", types: ["text/plain"] } },
      async handle({ caller }) {
        if (caller.tenant !== undefined) {
          throw new TrawlError("FORBIDDEN", {
            op: "api.metrics",
            message: "metrics cover all tenants; use a key without a tenant, with the scope read",
          });
        }
        const text = await meter.text();
        return { status: 200, type: EXPOSITION_TYPE, stream: streamFrom((sink) => sink.write(text)) };
      },
    }),
  ];
}
