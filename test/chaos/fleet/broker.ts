/** The broker of a fleet: a SQLite file, or a real Redis that can be killed and keeps every acknowledged write. */
import { join } from "node:path";
import { startRedis } from "../../services/redis.ts";
import type { Ground } from "./ground.ts";

export type BrokerKind = "redis" | "sqlite";

export type Broker = {
  /** The address for the fleet. */
  url: string;
  /** Kills the broker, waits, and restarts it. Resolves when it answers again. */
  bounce(downMs: number): Promise<void>;
  outages: readonly { from: number; to: number }[];
  stop(): Promise<void>;
};

export async function startBroker(kind: BrokerKind, ground: Ground, folder: string): Promise<Broker> {
  if (kind === "sqlite") return fileBroker(folder);
  const outages: { from: number; to: number }[] = [];
  const isHere = ground.host === "127.0.0.1";
  // Workers connect from other addresses, which Redis refuses in protected mode. No other host is on that network.
  const args = isHere ? [] : ["--bind", "127.0.0.1", ground.host, "--protected-mode", "no"];
  const redis = await startRedis({ appendonly: "always", args });
  return {
    url: `redis://${ground.host}:${redis.port}`,
    outages,
    async bounce(downMs) {
      const from = preciseNow();
      await redis.kill();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await redis.restart();
      outages.push({ from, to: preciseNow() });
    },
    stop: () => redis.stop(),
  };
}

function fileBroker(folder: string): Broker {
  return {
    url: `sqlite:${join(folder, "broker.db")}`,
    outages: [],
    bounce: () => Promise.reject(new Error("a file cannot be killed: --redis-kills 0")),
    stop: () => Promise.resolve(),
  };
}

function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
