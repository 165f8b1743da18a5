/** The endpoint of a webhook, written only from the specification of Standard Webhooks. */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { waitUntil } from "../services/wait-until.ts";

export type Received = {
  id: string;
  type: string;
  body: string;
  /** The parsed body. */
  content: { type: string; timestamp: string; data: Record<string, unknown> };
  headers: IncomingMessage["headers"];
  path: string;
};

export type Receiver = {
  url: string;
  /** All requests in order, whatever the answer was. */
  received: readonly Received[];
  /** Number of connections. */
  connections(): number;
  /** The problem with the signature of a request; undefined if it is valid. */
  problemOf(received: Received, secret: string): string | undefined;
  /** Resolves when the received requests meet the condition. */
  until(condition: (received: readonly Received[]) => boolean): Promise<void>;
  close(): Promise<void>;
};

/** Answers a request. `nth` counts the requests with the same id, from 1. */
export type Answering = (response: ServerResponse, received: Received, nth: number) => void;

export const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  (response) =>
    void response.writeHead(code, headers).end();

const TIMEOUT_MS = 40_000;

export async function startReceiver(answer: Answering = status(204)): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const content = JSON.parse(body) as Received["content"];
    const id = String(request.headers["webhook-id"]);
    const { headers, url: path = "" } = request;
    const one = { id, type: content.type, body, content, headers, path };
    received.push(one);
    answer(response, one, received.filter((other) => other.id === id).length);
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks/trawl?token=in-the-path`,
    received,
    connections: () => connections,
    problemOf: ({ headers, id, body }, secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      const timestamp = String(headers["webhook-timestamp"]);
      const signed = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
      if (headers["webhook-signature"] !== `v1,${signed}`) return `signature ${headers["webhook-signature"]}`;
      const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp));
      return ageSeconds < 300 ? undefined : `timestamp ${timestamp}`;
    },
    async until(condition) {
      if (await waitUntil(() => condition(received), TIMEOUT_MS)) return;
      throw new Error(`not all requests arrived: ${JSON.stringify(received.map(({ id, type }) => `${type} ${id}`))}`);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
