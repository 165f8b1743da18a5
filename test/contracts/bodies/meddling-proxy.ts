/** Stands before a server and passes on what it is asked, except where a test has it lose, refuse or hold something. */
import { once } from "node:events";
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Meddling =
  /** The server never hears of it. */
  | { answer: number }
  /** Neither hears of it, nor is anything said. */
  | "silence"
  /** The server does it, and the answer is lost on its way. */
  | "lose answer"
  | undefined;

export type MeddlingProxy = {
  endpoint: string;
  /** Method and what follows the key: `PUT`, `PUT ?partNumber`. */
  seen: string[];
  /** Decides for each request; nothing is meddled with until it is set. */
  meddle(decide: (step: string) => Meddling): void;
  stop(): Promise<void>;
};

export async function startMeddlingProxy(target: string): Promise<MeddlingProxy> {
  let decide: (step: string) => Meddling = () => undefined;
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const step = stepOf(incoming);
    seen.push(step);
    const wish = decide(step);
    if (wish === "silence") return;
    if (typeof wish === "object") return void incoming.resume().on("end", () => outgoing.writeHead(wish.answer).end());
    passOn(target, incoming, outgoing, wish === "lose answer");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    meddle: (chosen) => {
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

function passOn(target: string, incoming: IncomingMessage, outgoing: ServerResponse, losesAnswer: boolean): void {
  const { method, headers, url } = incoming;
  // With the name it was sent to: that is a part of what was signed.
  const onward = ask(`${target}${url}`, { method: method ?? "GET", headers }, (answer) => {
    if (losesAnswer) return void answer.resume().on("end", () => outgoing.destroy());
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    // Swift sends the end of a body after HEAD, too, which has none: whatever comes then is no part of the answer.
    if (method === "HEAD") outgoing.end();
    else answer.pipe(outgoing);
  });
  onward.on("error", () => {
    if (!outgoing.writableEnded) outgoing.destroy();
  });
  incoming.pipe(onward);
}
