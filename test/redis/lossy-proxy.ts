/** A proxy to a server that can delay or drop an answer, or close connections, when the test wants it. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type LossyProxy = {
  url: string;
  /**
   * The next request, or the next with `word` in it, still reaches the server; its answer is lost, and the connection with
   * it. Resolves when it is.
   */
  loseNextAnswer(word?: string): Promise<void>;
  /** Closes all connections and accepts no new ones. */
  cut(): void;
};

/** Call it inside a test. Delays answers by `delayMs`. */
export async function openLossyProxy(port: number, { delayMs } = { delayMs: 0 }): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  let toLose: (() => void) | undefined;
  let mark = "";
  let isCut = false;

  function join(near: Socket): void {
    if (isCut) return void near.destroy();
    const far = connect(port, "127.0.0.1");
    const close = () => [near, far].forEach((socket) => void socket.destroy());
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", close).on("close", () => {
        sockets.delete(socket);
        close();
      });
    }
    let lost: (() => void) | undefined;
    near.on("data", (request) => {
      if (request.includes(mark)) {
        lost ??= toLose;
        toLose = undefined;
      }
      far.write(request);
    });
    far.on("data", (answer) => {
      if (lost === undefined && delayMs > 0) return void setTimeout(() => near.write(answer), delayMs);
      if (lost === undefined) return void near.write(answer);
      close();
      lost();
    });
  }

  const server = createServer(join);
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
    loseNextAnswer: (word = "") =>
      new Promise((resolve) => {
        mark = word;
        toLose = resolve;
      }),
    cut,
  };
}
