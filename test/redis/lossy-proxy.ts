/** A TCP proxy that delays replies, loses a reply, or closes connections, as a test requests. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type LossyProxy = {
  url: string;
  /**
   * Forwards the next request, or the next that contains `text`, and closes the connection instead of returning the
   * reply. Resolves after that.
   */
  loseNextReply(text?: string): Promise<void>;
  /** Closes all connections and accepts no new ones. */
  cut(): void;
};

/** Call it inside a test. Delays every reply by `delayMs`. */
export async function openLossyProxy(port: number, { delayMs } = { delayMs: 0 }): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  let toLose: (() => void) | undefined;
  let mark = "";
  let isCut = false;

  function connectThrough(client: Socket): void {
    if (isCut) return void client.destroy();
    const upstream = connect(port, "127.0.0.1");
    const close = () => [client, upstream].forEach((socket) => void socket.destroy());
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", close).on("close", () => {
        sockets.delete(socket);
        close();
      });
    }
    let lost: (() => void) | undefined;
    client.on("data", (request) => {
      if (request.includes(mark)) {
        lost ??= toLose;
        toLose = undefined;
      }
      upstream.write(request);
    });
    upstream.on("data", (reply) => {
      if (lost === undefined && delayMs > 0) return void setTimeout(() => client.write(reply), delayMs);
      if (lost === undefined) return void client.write(reply);
      close();
      lost();
    });
  }

  const server = createServer(connectThrough);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseNextReply: (text = "") =>
      new Promise((resolve) => {
        mark = text;
        toLose = resolve;
      }),
    cut,
  };
}
