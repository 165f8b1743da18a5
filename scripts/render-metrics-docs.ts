/** Renders docs/metrics.md from the declarations of the metrics. */
import { SERVER_METRICS } from "../src/api/metrics/server-metrics.ts";
import { BUILD_METRICS } from "../src/runtime/build-metrics.ts";
import type { Declarations, LabelValues } from "../src/runtime/metrics.ts";
import { PROCESS_METRICS } from "../src/runtime/process-metrics.ts";
import { POOL_METRICS, WORKER_METRICS } from "../src/worker/observe/worker-metrics.ts";

export function metricsPage(note: string): string {
  return `# Metrics

Servers and workers export metrics in the [Prometheus](https://prometheus.io) text format.

| process | endpoint | access |
|---|---|---|
| \`trawl serve\` | \`/metrics\` on its own port | if API keys exist: clients that send a key as a bearer token. The key must have the scope \`read\` and no tenant. With \`TRAWL_METRICS_OPEN=true\`: every client that can reach the server. Without API keys: only clients on the same machine, because the server listens only on loopback addresses |
| \`trawl worker --metrics-port 9464\`, \`trawl up --metrics-port 9464\` | \`/metrics\` on that port, for all processes of the command | every client that can reach the port. The command listens on 127.0.0.1, unless \`TRAWL_METRICS_HOST\` is set |

\`\`\`
trawl worker --processes 4 --metrics-port 9464
curl -s localhost:9464/metrics
curl -s localhost:7700/metrics
\`\`\`

The processes of a supervisor send their values to it every second, and the supervisor exports the sums. It keeps the
counts of processes that have ended, so counters never decrease while the command runs. If a process is killed, its
counts of the last second are lost.

When Prometheus requests the metrics of a server, the server queries the broker and the store: at most once per second,
with a timeout of 2 seconds. If the broker or the store does not respond, its metrics are missing, and \`trawl_broker_up\`
or \`trawl_store_up\` is 0. If there are many dead letters or webhook events, the server counts them less often.

No label contains a URL, a site, a job or a tenant, so the number of time series does not grow with the crawl. The
tables below list the values of each label, or their maximum number. Values above that number are combined as \`other\`.

[deploy/](../deploy) contains a Grafana dashboard (import \`grafana/trawl.json\` and select the Prometheus data source),
alert rules with instructions (\`prometheus/alerts.yml\`), and an example \`prometheus.yml\`. Without Prometheus, you can
use the [history](api.md#history) of the fleet, which is in the store.

## Workers

${table(WORKER_METRICS)}

## Supervisors

${table(POOL_METRICS)}

## Servers

${table(SERVER_METRICS)}

## All processes

${table({ ...PROCESS_METRICS, ...BUILD_METRICS })}

${note}`;
}

function table(declarations: Declarations): string {
  const rows = Object.entries(declarations).map(
    ([name, { type, help, labels = {} }]) => `| \`${name}\` | ${type} | ${help} | ${labelsOf(labels)} |`,
  );
  return ["| metric | type | meaning | labels |", "|---|---|---|---|", ...rows].join("\n");
}

function labelsOf(labels: Readonly<Record<string, LabelValues>>): string {
  return Object.entries(labels)
    .map(([name, values]) => `\`${name}\`: ${"max" in values ? `up to ${values.max}` : values.join(", ")}`)
    .join("; ");
}
