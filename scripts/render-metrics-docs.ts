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
| \`trawl serve\` | \`/metrics\` on its own port | without API keys, only clients on the same machine; otherwise clients that send a key with the scope \`read\` and without a tenant as a bearer token. With \`TRAWL_METRICS_OPEN=true\`, every client that can reach the server |
| \`trawl worker --metrics-port 9464\`, \`trawl up --metrics-port 9464\` | \`/metrics\` on that port, for all processes of the command | every client that can reach the port. The port is open on 127.0.0.1 only, unless \`TRAWL_METRICS_HOST\` is set |

\`\`\`
trawl worker --processes 4 --metrics-port 9464
curl -s localhost:9464/metrics
curl -s localhost:7700/metrics
\`\`\`

A supervisor adds up the values that its processes send every second, and keeps the counts of processes that have ended: counters
never fall while the command runs. If a process is killed, its counts of the last second are lost. A server queries broker and
store when it is scraped, at most once per second, with a timeout of 2 seconds. If one of them is unreachable, its values are
missing, and \`trawl_broker_up\` or \`trawl_store_up\` is 0. Dead letters and webhook events are counted less often if there are
many.

No label contains a URL, a site, a job or a tenant, so the number of series does not grow with the crawl. A label has the values
listed below, or at most the stated number of different values; all further values are combined as \`other\`.

[deploy/](../deploy) contains a Grafana dashboard (import \`grafana/trawl.json\` and select the Prometheus data source), alert
rules with instructions (\`prometheus/alerts.yml\`), and an example \`prometheus.yml\`. The store also keeps a
[history](api.md#history) of the fleet, which needs no Prometheus.

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
