import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { extendIdleTimeout } from "./idle-timeout.ts";

const SILENCE_MS = 50;
const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(answer: (response: ServerResponse) => void): Promise<number> {
  const server = createServer((_, response) => answer(response)).listen(0, "127.0.0.1");
  servers.push(server);
  server.setTimeout(SILENCE_MS);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

it("waits with a client for what there is to say, however long that takes", async () => {
  const port = await serve((response) => {
    extendIdleTimeout(response);
    let silences = 0;
    response.on("timeout", () => {
      silences += 1;
      if (silences === 3) response.end("found");
    });
  });

  const answer = await fetch(`http://127.0.0.1:${port}/`);

  expect(await answer.text()).toBe("found");
});

it("leaves a client that does not take what it is told", async () => {
  const left = new Promise<void>((resolve) => {
    void serve((response) => {
      extendIdleTimeout(response);
      response.once("close", resolve).write(Buffer.alloc(64 * 1024 * 1024));
    }).then((port) => {
      const client = connect(port, "127.0.0.1").pause();
      client.on("error", () => {}).write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    });
  });

  await left;
});
