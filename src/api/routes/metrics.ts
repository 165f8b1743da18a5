/**
 * What Prometheus asks for. It shows how much everybody has waiting, so it is for operators; but not for the scope admin,
 * which would have the key that steers everything lie in the settings of whatever scrapes.
 */
import type { Config } from "../../config/schema.ts";
import { TrawlError } from "../../errors.ts";
import { EXPOSITION_TYPE } from "../../runtime/metrics.ts";
import { defineRoute, type Route } from "../route.ts";
import type { ServerMeter } from "../server-meter.ts";
import { streamOf } from "../stream-of.ts";

export function metricsRoutes(meter: Pick<ServerMeter, "text">, { metricsOpen }: Pick<Config, "metricsOpen">): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/metrics",
      scope: metricsOpen ? "open" : "read",
      tag: "Health",
      summary: "Metrics, for Prometheus",
      says: "Takes a key of no tenant, unless TRAWL_METRICS_OPEN says that it takes none. docs/metrics.md has what each of them means.",
      answers: { 200: { says: "Text format 0.0.4.", types: ["text/plain"] } },
      async handle({ caller }) {
        if (caller.tenant !== undefined) {
          throw new TrawlError("FORBIDDEN", {
            op: "api.metrics",
            message: "metrics are of all tenants together; take a key of no tenant, with the scope read",
          });
        }
        const text = await meter.text();
        return { status: 200, type: EXPOSITION_TYPE, stream: streamOf((sink) => sink.write(text)) };
      },
    }),
  ];
}
