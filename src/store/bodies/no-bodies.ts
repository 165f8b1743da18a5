import { TrawlError } from "../../errors.ts";
import type { Bodies, PageSpool } from "./bodies.ts";

/** Stores no bodies. */
export function openNoBodies(): Bodies {
  return { put: async () => undefined, get: async () => undefined, remove: async () => true };
}

/** Stores nothing, so pages cannot be spooled. */
export function openNoSpool(): PageSpool {
  return {
    put: async ({ jobId }) => {
      throw new TrawlError("BAD_CONFIG", {
        op: "spool.put",
        message: `job ${jobId}: other workers parse its pages, but this worker cannot spool them, because TRAWL_BODIES is none; set TRAWL_BODIES to a folder that all workers share, such as file:.trawl/bodies`,
        detail: { jobId },
      });
    },
    get: async () => "missing",
    remove: async () => {},
  };
}
