/** A proxy to a Redis that counts requests, and calls a function before or after the nth one. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type CountingProxy = {
  url: string;
  /** Requests so far. Requests that arrive in one packet count as one. */
  count(): number;
  /**
   * Restarts the count. With `before`, calls `act` instead of forwarding the nth request. With `after`, calls `act`
   * when the reply to the nth request has arrived.
   */
  at(nth: number, when: "before" | "after", act: () => void): void;
};

/** True for calls of Lua scripts. If a process makes one call at a time, each call has the same number in every run. */
export function isScriptCall(request: Buffer): boolean {
  return /\r\n(evalsha|eval)\r\n/i.test(request.toString("latin1"));
}

/** Call it inside a test. Requests for which `isCounted` is false are forwarded without being counted. */
export async function openCountingProxy(
  port: number,
  isCounted: (request: Buffer) => boolean = () => true,
): Promise<CountingProxy> {
  let seen = 0;
  let plan: { nth: number; when: "before" | "after"; act: () => void } | undefined;
  const sockets = new Set<Socket>();

  function decide(): "pass" | "stop" | "act after reply" {
    seen += 1;
    if (plan === undefined || seen !== plan.nth) return "pass";
    if (plan.when === "after") return "act after reply";
    plan.act();
    return "stop";
  }

  function connectThrough(client: Socket): void {
    const upstream = connect(port, "127.0.0.1");
    const close = () => [client, upstream].forEach((socket) => void socket.destroy());
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", close).on("close", close);
    }
    let isLast = false;
    client.on("data", (request) => {
      const action = isCounted(request) ? decide() : "pass";
      if (action === "stop") return void close();
      isLast ||= action === "act after reply";
      upstream.write(request);
    });
    upstream.on("data", (answer) => {
      if (!isLast) return void client.write(answer);
      plan?.act();
      close();
    });
  }

  const server = createServer(connectThrough);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => seen,
    at(nth, when, act) {
      seen = 0;
      plan = { nth, when, act };
    },
  };
}
