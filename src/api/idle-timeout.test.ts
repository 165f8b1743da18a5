import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { extendIdleTimeout } from "./idle-timeout.ts";

const IDLE_MS = 50;
const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(respond: (response: ServerResponse) => void): Promise<number> {
  // Not on the server: on a busy machine the time would pass before the client has sent its request.
  const server = createServer((_, response) => {
    response.socket?.setTimeout(IDLE_MS);
    respond(response);
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

it("keeps the connection open while the server has nothing to send", async () => {
  const port = await serve((response) => {
    extendIdleTimeout(response);
    let timeouts = 0;
    response.on("timeout", () => {
      timeouts += 1;
      if (timeouts === 3) response.end("found");
    });
  });

  const response = await fetch(`http://127.0.0.1:${port}/`);

  expect(await response.text()).toBe("found");
});

it("closes the connection of a client that does not read the response", async () => {
  const closed = new Promise<void>((resolve) => {
    void serve((response) => {
      extendIdleTimeout(response);
      response.once("close", resolve).write(Buffer.alloc(64 * 1024 * 1024));
    }).then((port) => {
      const client = connect(port, "127.0.0.1").pause();
      client.on("error", () => {}).write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    });
  });

  await closed;
});
