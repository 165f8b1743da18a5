/** Receives spans like an OpenTelemetry collector, over HTTP as JSON. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export type ReceivedSpan = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  kind: number;
  attributes: Record<string, unknown>;
  isFailed: boolean;
  message: string;
  from: number;
  to: number;
  /** The process that sent the span. */
  instance: string;
  service: string;
};

type Value = Record<string, string | number | boolean>;
type Attribute = { key: string; value: Value };
type Sent = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        name: string;
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        kind: number;
        attributes: Attribute[];
        status: { code?: number; message?: string };
        startTimeUnixNano: string;
        endTimeUnixNano: string;
      }[];
    }[];
  }[];
};

const FAILED = 2;

export async function startCollector(): Promise<{ url: string; spans: readonly ReceivedSpan[] }> {
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    spans.push(...spansOf(JSON.parse(Buffer.concat(chunks).toString()) as Sent));
    response.setHeader("content-type", "application/json").end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

function spansOf({ resourceSpans }: Sent): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const { "service.instance.id": instance, "service.name": service } = attributesOf(resource.attributes);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId = "", kind, attributes, status, ...times }) => ({
        ...{ name, traceId, spanId, parentSpanId, kind },
        ...{ instance: String(instance), service: String(service) },
        attributes: attributesOf(attributes),
        isFailed: status.code === FAILED,
        message: status.message ?? "",
        from: Number(BigInt(times.startTimeUnixNano) / 1000n) / 1000,
        to: Number(BigInt(times.endTimeUnixNano) / 1000n) / 1000,
      })),
    );
  });
}

function attributesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[kind, content] = ["", undefined]] = Object.entries(value);
      return [key, kind === "intValue" ? Number(content) : content];
    }),
  );
}
