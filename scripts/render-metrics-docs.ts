/** Renders docs/metrics.md from the declarations of the metrics themselves. */
import { SERVER_METRICS } from "../src/api/server-metrics.ts";
import { BUILD_METRICS } from "../src/runtime/build-metrics.ts";
import type { Declarations, LabelValues } from "../src/runtime/metrics.ts";
import { PROCESS_METRICS } from "../src/runtime/process-metrics.ts";
import { POOL_METRICS, WORKER_METRICS } from "../src/worker/worker-metrics.ts";

export function metricsPage(note: string): string {
  return `# Metrics

Servers and workers tell [Prometheus](https://prometheus.io) what they do, in its text format.

| who | where | who may ask |
|---|---|---|
| \`trawl serve\` | \`/metrics\` on its own port | where it has no keys, this machine; else a key of no tenant with the scope \`read\`, sent as a bearer token. \`TRAWL_METRICS_OPEN=true\`: everybody who reaches it |
| \`trawl worker --metrics-port 9464\`, \`trawl up --metrics-port 9464\` | \`/metrics\` there: one port for all processes of the command | whoever reaches it; it listens on 127.0.0.1 unless \`TRAWL_METRICS_HOST\` says otherwise |

\`\`\`
trawl worker --processes 4 --metrics-port 9464
curl -s localhost:9464/metrics
curl -s localhost:7700/metrics
\`\`\`

A supervisor adds up what its processes tell it every second, and keeps what those that are gone had counted: counters never
fall while the command runs. A process that is killed takes its last second with it. A server looks at broker and store when it
is asked, at most once a second and for 2 seconds at most; what is away has no numbers, and \`trawl_broker_up\` or
\`trawl_store_up\` is 0. Dead letters and events of webhooks are counted apart, more seldom where there are very many.

No label has a URL, a site, a job or a tenant in it, so the number of series does not grow with what is crawled. Labels have the
values that stand below, or at most so many different ones; all others together are \`other\`.

[deploy/](../deploy) has a dashboard for Grafana (import \`grafana/trawl.json\`, and choose the Prometheus), alert rules that say
what to do (\`prometheus/alerts.yml\`), and an example of \`prometheus.yml\`. What the fleet did is in the
[store](api.md#what-the-fleet-did) as well, without any Prometheus.

## Of workers

${table(WORKER_METRICS)}

## Of their supervisor

${table(POOL_METRICS)}

## Of servers

${table(SERVER_METRICS)}

## Of all of them

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
    .map(([name, values]) => `\`${name}\`: ${"most" in values ? `up to ${values.most}` : values.join(", ")}`)
    .join("; ");
}
