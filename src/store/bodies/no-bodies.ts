import { TrawlError } from "../../errors.ts";
import type { Bodies, Parcels } from "./bodies.ts";

/** Keeps nothing. */
export function openNoBodies(): Bodies {
  return { put: async () => undefined, get: async () => undefined, remove: async () => true };
}

/** Keeps nothing, and so cannot pass pages on. */
export function openNoParcels(): Parcels {
  return {
    put: async ({ jobId }) => {
      throw new TrawlError("BAD_CONFIG", {
        op: "parcels.put",
        message: `job ${jobId} is parsed by other workers, and this one has nowhere to put its pages: TRAWL_BODIES is none; name a folder that all workers share, such as file:.trawl/bodies`,
        detail: { jobId },
      });
    },
    get: async () => "missing",
    remove: async () => {},
  };
}
