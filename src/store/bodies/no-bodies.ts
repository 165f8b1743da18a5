import { type BodySettings, bodyProblem } from "../../domain/request.ts";
import { TrawlError } from "../../errors.ts";
import type { Bodies, PageSpool, RequestBodies } from "./bodies.ts";

/** Stores no bodies. */
export function openNoBodies(): Bodies {
  return { put: async () => undefined, get: async () => undefined, remove: async () => true };
}

/** Stores no request bodies. Requests with a large body are refused before (`bodyProblem`). */
export function openNoRequestBodies(settings: BodySettings): RequestBodies {
  return {
    settings,
    put: async (jobId, body) => {
      const problem = bodyProblem(Buffer.byteLength(body), settings) ?? "TRAWL_BODIES is none";
      throw new TrawlError("BAD_CONFIG", {
        op: "requests.put",
        message: `job ${jobId}: ${problem}`,
        detail: { jobId },
      });
    },
    find: async () => undefined,
    removeAll: async () => {},
  };
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
