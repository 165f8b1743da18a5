// What a program that records traces by itself does before anything else is loaded.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": "somebody-elses" }),
  spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())],
}).register();
