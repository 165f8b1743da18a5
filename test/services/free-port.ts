import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * The ports are below the range of ephemeral ports. Inside that range, a client that keeps connecting to a server that
 * is down sooner or later connects to itself, and then the server finds its port in use.
 */
const LOWEST = 12_000;
const BEYOND = 32_000;

/** A loopback port that was free a moment ago. */
export async function findFreePort(): Promise<number> {
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
