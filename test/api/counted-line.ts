/** A proxy to a Redis that counts requests, and does something before or after the nth one. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type CountedLine = {
  url: string;
  /** Requests until now. Requests that arrive in one packet count as one. */
  count(): number;
  /** Restarts the count. Calls `act` instead of passing on the nth request, or when its reply has arrived. */
  at(nth: number, when: "before" | "after", act: () => void): void;
};

/** Calls of Lua scripts. Those of a process that makes one call at a time have the same numbers in every run. */
export function isScriptCall(request: Buffer): boolean {
  return /\r\n(evalsha|eval)\r\n/i.test(request.toString("latin1"));
}

/** Call it inside a test. Requests for which `isCounted` is false pass and do not count. */
export async function openCountedLine(
  port: number,
  isCounted: (request: Buffer) => boolean = () => true,
): Promise<CountedLine> {
  let seen = 0;
  let plan: { nth: number; when: "before" | "after"; act: () => void } | undefined;
  const sockets = new Set<Socket>();

  function take(): "pass" | "stop" | "answer" {
    seen += 1;
    if (plan === undefined || seen !== plan.nth) return "pass";
    if (plan.when === "after") return "answer";
    plan.act();
    return "stop";
  }

  function join(near: Socket): void {
    const far = connect(port, "127.0.0.1");
    const close = () => [near, far].forEach((socket) => void socket.destroy());
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", close).on("close", close);
    }
    let isLast = false;
    near.on("data", (request) => {
      const what = isCounted(request) ? take() : "pass";
      if (what === "stop") return void close();
      isLast ||= what === "answer";
      far.write(request);
    });
    far.on("data", (answer) => {
      if (!isLast) return void near.write(answer);
      plan?.act();
      close();
    });
  }

  const server = createServer(join);
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
