/** Opens the broker of a race: a file, or `redis://host:port?prefix=…&shards=…`. */
import { openRedisFrontier } from "../../../src/frontier/redis/open.ts";
import { openSqliteFrontier } from "../../../src/frontier/sqlite/open.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { createLog } from "../../../src/runtime/log.ts";
import type { AnyFrontier } from "./backend.ts";

export async function openRaceBroker(address: string, clock: Clock): Promise<AnyFrontier> {
  if (!address.startsWith("redis")) {
    return openSqliteFrontier(address, { clock }, { maxPending: 1e6, busyMs: 30_000, pollMs: 20 });
  }
  const [url = "", query = ""] = address.split("?");
  const parameters = new URLSearchParams(query);
  return openRedisFrontier(
    url,
    { clock, log: createLog("warn", (line) => process.stderr.write(line)) },
    {
      prefix: parameters.get("prefix") ?? "",
      shards: Number(parameters.get("shards")),
      maxPending: 1e6,
      retryForMs: 30_000,
      pollMs: 10_000,
      time: "broker",
    },
  );
}
