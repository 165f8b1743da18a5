import { randomBytes } from "node:crypto";
import { openRedisFrontier } from "../../../src/frontier/redis/open.ts";
import { createLog } from "../../../src/runtime/log.ts";
import { createManualClock, type ManualClock } from "../../model/manual-clock.ts";
import { withRedis } from "../../services/redis-client.ts";
import { type AnyFrontier, type Backend, type Broker, START_AT } from "./backend.ts";
import { countLeaseWork, listUnboundedPlans } from "./redis-costs.ts";

const NEWER_VERSION = 999;
/** No server listens on this port. */
const UNREACHABLE = "redis://127.0.0.1:1";

export type RedisBackendOptions = { server: () => { url: string; port: number }; shards: number };

/** One Redis for the whole file; every broker has its own prefix. */
export function createRedisBackend({ server, shards }: RedisBackendOptions): Backend {
  const handles: AnyFrontier[] = [];
  const brokers = new Map<Broker, { prefix: string; maxPending: number }>();

  async function openPrefix(
    prefix: string,
    clock: ManualClock,
    maxPending: number,
    at = server().url,
  ): Promise<AnyFrontier> {
    const frontier = await openRedisFrontier(
      at,
      { clock, log: createLog("silent", () => {}) },
      { prefix, shards, maxPending, retryForMs: 0, pollMs: 1e9, time: "caller" },
    );
    handles.push(frontier);
    return frontier;
  }

  return {
    async open({ maxPending }) {
      const prefix = newPrefix();
      const clock = createManualClock(START_AT);
      const broker = { clock, frontier: await openPrefix(prefix, clock, maxPending) };
      brokers.set(broker, { prefix, maxPending });
      return broker;
    },
    features: {
      sharing: {
        async another(broker) {
          const { prefix, maxPending } = brokers.get(broker) ?? { prefix: newPrefix(), maxPending: 0 };
          return openPrefix(prefix, broker.clock, maxPending);
        },
      },
      versions: {
        async openNewer() {
          const prefix = newPrefix();
          await openPrefix(prefix, createManualClock(START_AT), 1);
          const fields = ["schema", NEWER_VERSION, "readable", NEWER_VERSION];
          await withRedis(server().port, (redis) => redis.call("HSET", `${prefix}:{0}:meta`, ...fields));
          return openPrefix(prefix, createManualClock(START_AT), 1);
        },
        openDamaged: () => openPrefix(newPrefix(), createManualClock(START_AT), 1, UNREACHABLE),
      },
      costs: {
        countLeaseWork: async (held) => {
          const clock = createManualClock(START_AT - 1000);
          const frontier = await openPrefix(newPrefix(), clock, 1e9);
          return countLeaseWork({ frontier, clock, port: server().port }, held);
        },
        listUnboundedPlans: async () => listUnboundedPlans(),
      },
    },
    async cleanUp() {
      for (const frontier of handles.splice(0)) await frontier.close();
      brokers.clear();
    },
  };
}

export function newPrefix(): string {
  return `test-${randomBytes(6).toString("hex")}`;
}
