import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the range that systems take outgoing ports from. Within it, a client that keeps dialling a server which is down
 * ends up connected to itself, sooner or later, and the server finds its port taken.
 */
const LOWEST = 12_000;
const BEYOND = 32_000;

/** A loopback port that nobody listened on a moment ago. */
export async function takeFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, BEYOND);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
