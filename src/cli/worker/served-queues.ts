import type { Config } from "../../config/schema.ts";
import { inRegions } from "../../domain/queue-name.ts";

/** The queues in `--queues`, and the same queues of each region of the worker's proxies. */
export function servedQueues(queues: readonly string[], { proxies, region }: Config): string[] {
  const regions = proxies.flatMap((proxy) => proxy.region ?? []);
  return inRegions(
    queues,
    [...new Set(regions)].filter((one) => region === "any" || one === region),
  );
}
