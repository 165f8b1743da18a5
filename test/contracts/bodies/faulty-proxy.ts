/** An HTTP proxy that forwards requests to a server, and injects the faults that a test chooses. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";

export type Fault =
  /** Answers with this status and does not forward the request. */
  | { answer: number }
  /** Does not forward the request and sends no response. */
  | "no response"
  /** Forwards the request, and closes the connection instead of returning the response. */
  | "lose response"
  | undefined;

export type FaultyProxy = {
  endpoint: string;
  /** The method and the first query parameter of each request: `PUT`, `PUT ?partNumber`. */
  seen: string[];
  /** `decide` chooses the fault of each request. Without it, the proxy injects none. */
  injectFaults(decide: (step: string) => Fault): void;
  stop(): Promise<void>;
};

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let decide: (step: string) => Fault = () => undefined;
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const step = stepOf(incoming);
    seen.push(step);
    const fault = decide(step);
    if (fault === "no response") return;
    if (typeof fault === "object")
      return void incoming.resume().on("end", () => outgoing.writeHead(fault.answer).end());
    forward(target, incoming, outgoing, fault === "lose response");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    injectFaults: (chosen) => {
      decide = chosen;
    },
    async stop() {
      const closed = once(server.close(), "close");
      server.closeAllConnections();
      await closed;
    },
  };
}

function stepOf({ method = "", url = "" }: IncomingMessage): string {
  const [, name] = /\?(\w+)/.exec(url) ?? [];
  return name === undefined ? method : `${method} ?${name}`;
}

function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse, losesResponse: boolean): void {
  const { method, headers, url } = incoming;
  // The headers include the original host, because the signature covers it.
  const forwarded = sendRequest(`${target}${url}`, { method: method ?? "GET", headers }, (answer) => {
    if (losesResponse) return void answer.resume().on("end", () => outgoing.destroy());
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    // Swift also sends the final chunk of a body after HEAD, whose response has no body. The proxy discards it.
    if (method === "HEAD") outgoing.end();
    else answer.pipe(outgoing);
  });
  forwarded.on("error", () => {
    if (!outgoing.writableEnded) outgoing.destroy();
  });
  incoming.pipe(forwarded);
}
