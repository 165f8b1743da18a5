/**
 * A real gateway for tests: it fetches the URL in its query from its own address (127.0.1.n), and returns status, type
 * and body. Shares no code with src/.
 */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export type TestGateway = {
  /** As in the setting `proxies`, with `{url}`. */
  url: string;
  /** The address that sites see. */
  address: string;
  /** Requests without the valid key. */
  refused: number;
  /** Ends all connections and closes the port, so that new connections are refused. */
  stopListening(): Promise<void>;
  /** Opens the same port again. */
  listenAgain(): Promise<void>;
};

export async function startGateway({ address, key }: { address: string; key: string }): Promise<TestGateway> {
  const state = { refused: 0 };
  const server = createServer((incoming, response) => {
    const { searchParams } = new URL(incoming.url ?? "", "http://gateway.test");
    if (searchParams.get("key") !== key) {
      state.refused++;
      return void response.writeHead(401).end();
    }
    const onward = request(searchParams.get("url") ?? "", { localAddress: address }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { "content-type": answer.headers["content-type"] ?? "text/plain" });
      answer.pipe(response);
    });
    onward.on("error", () => response.writeHead(502).end());
    onward.end();
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => server.once("error", reject).listen(at, address, resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://${address}:${port}/?key=${key}&url={url}`,
    address,
    stopListening: async () => {
      const closed = new Promise<unknown>((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
    listenAgain: () => listen(port),
  });
}
