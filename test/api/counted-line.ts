/** A line to a Redis that counts what is sent to it, and does something before or after the nth request. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type CountedLine = {
  url: string;
  /** Requests, as they came: several in one piece count as one. */
  count(): number;
  /** Counts anew. `act` is called in place of passing on the nth request, or once its answer is there. */
  at(nth: number, when: "before" | "after", act: () => void): void;
};

/** Call it inside a test. */
export async function openCountedLine(port: number): Promise<CountedLine> {
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
      const what = take();
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
