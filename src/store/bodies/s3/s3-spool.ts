import type { PageSpool } from "../bodies.ts";
import { packPage, spoolKey, unpackPage } from "../spooled-page-bytes.ts";
import type { S3Objects } from "./s3-objects.ts";

/**
 * Spooled pages in a bucket, so that fetch workers and parse workers need no shared folder. A crash before a removal
 * leaves an object that no worker reads.
 */
export function openS3Spool(objects: S3Objects): PageSpool {
  return {
    put: async (name, spooled) => objects.put("spool.put", spoolKey(name), await packPage(spooled)),
    async get(name) {
      const packed = await objects.find("spool.get", spoolKey(name));
      return packed === undefined ? "missing" : unpackPage(packed);
    },
    remove: (name) => objects.remove("spool.remove", spoolKey(name)),
  };
}
