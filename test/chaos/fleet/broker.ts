/** The broker of a fleet: a SQLite file, or a real Redis that can be killed and keeps every acknowledged write. */
import { join } from "node:path";
import { startRedis } from "../../services/redis.ts";
import type { FleetNetwork } from "./fleet-network.ts";

export type BrokerKind = "redis" | "sqlite";

export type Broker = {
  /** The connection URL for the workers. */
  url: string;
  /** Kills the broker, waits, and restarts it. Resolves when it answers again. */
  bounce(downMs: number): Promise<void>;
  outages: readonly { from: number; to: number }[];
  stop(): Promise<void>;
};

export async function startBroker(kind: BrokerKind, network: FleetNetwork, folder: string): Promise<Broker> {
  if (kind === "sqlite") return fileBroker(folder);
  const outages: { from: number; to: number }[] = [];
  const isLoopback = network.host === "127.0.0.1";
  // Redis in protected mode refuses connections from other addresses. No other host is on the network of the machines.
  const args = isLoopback ? [] : ["--bind", "127.0.0.1", network.host, "--protected-mode", "no"];
  const redis = await startRedis({ appendonly: "always", args });
  return {
    url: `redis://${network.host}:${redis.port}`,
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
    bounce: () => Promise.reject(new Error("a SQLite broker cannot be killed: set --redis-kills 0")),
    stop: () => Promise.resolve(),
  };
}

function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
