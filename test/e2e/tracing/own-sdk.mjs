// Registers an OpenTelemetry SDK before anything else is loaded, like a program that records its own traces.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": "own-program" }),
  spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())],
}).register();
