/**
 * Starts an OpenTelemetry SDK that exports spans with OTLP over HTTP. The user must install its packages. The standard
 * OTEL_* variables (endpoint, headers, service name, sampler, batches) apply.
 */
import { createRequire } from "node:module";
import type { Tracer } from "@opentelemetry/api";
import { TrawlError } from "../../errors.ts";
import type { PlannedIds } from "./planned-ids.ts";

type Sdk = { tracer: Tracer; shutdown(): Promise<void> };

type Options = { name: string; version: string; instance: string };

const SDK = "@opentelemetry/sdk-trace-node";
const EXPORTER = "@opentelemetry/exporter-trace-otlp-http";

/** Throws TRACING_UNAVAILABLE if the packages are not installed. */
export async function startSdk(ids: PlannedIds, { name, version, instance }: Options): Promise<Sdk> {
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }] = await loaded();
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resourcesOfSdk();
  const own = resourceFromAttributes({
    "service.name": name,
    "service.version": version,
    "service.instance.id": instance,
  });
  const resource = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
  const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter())];
  const provider = new NodeTracerProvider({ resource, idGenerator: ids, spanProcessors });
  // Registered globally, so that spans which a spider creates are exported too.
  provider.register();
  return { tracer: provider.getTracer(name, version), shutdown: () => provider.shutdown() };
}

async function loaded() {
  try {
    return await Promise.all([
      import("@opentelemetry/sdk-trace-node"),
      import("@opentelemetry/exporter-trace-otlp-http"),
    ]);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new TrawlError("TRACING_UNAVAILABLE", {
      op: "tracing.start",
      message: `tracing is on (TRAWL_OTEL or OTEL_EXPORTER_OTLP_ENDPOINT), but its packages are not installed: npm install ${SDK} ${EXPORTER}`,
      cause,
    });
  }
}

/** The resources package is a dependency of the SDK, and may not be resolvable from here. */
function resourcesOfSdk(): typeof import("@opentelemetry/resources") {
  const node = createRequire(import.meta.url).resolve(SDK);
  const base = createRequire(node).resolve("@opentelemetry/sdk-trace-base");
  return createRequire(base)("@opentelemetry/resources");
}
