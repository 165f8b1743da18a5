/**
 * Bodies in a bucket, with the same names as in a folder, so a folder of bodies can be copied to a bucket. Any number
 * of workers may store the same body at once: their content is equal.
 *
 * The time of an object is when the body was last stored. A body that was stored long ago is sent again, so that a
 * process that removes orphans sees a recent time. Between that check and the removal there is one round trip: a body
 * that was unused for an hour and is stored within those milliseconds is lost. Reading its page then reports the
 * missing body.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Bodies } from "../bodies.ts";
import { compressBody, findKey, nameOf, onceAtATime } from "../body-name.ts";
import { failDamaged } from "./s3-failure.ts";
import type { S3Objects } from "./s3-objects.ts";

const decompress = promisify(gunzip);

/** Half of the time for which a body must be unused before it may be removed. */
const RENEW_MS = 30 * 60_000;

/** Equal bodies are stored once, and usually sent once. */
export function openS3Bodies(objects: S3Objects, now: () => number): Bodies {
  const keep = onceAtATime(async (key, body) => {
    // An explicit check instead of If-None-Match: not every server supports it for PUT, and the body would be sent
    // anyway.
    const putAt = await objects.putAtOf("bodies.put", key);
    if (putAt !== undefined && !(now() - putAt > RENEW_MS)) return;
    await objects.put("bodies.put", key, await compressBody(body));
  });
  return {
    async put(body) {
      const { ref, key } = nameOf(body);
      await keep(key, body);
      return ref;
    },
    async get(ref) {
      const key = findKey(ref);
      const bytes = key === undefined ? undefined : await objects.find("bodies.get", key);
      if (key === undefined || bytes === undefined) return undefined;
      return decompress(bytes).catch((cause: unknown) => failDamaged("bodies.get", objects.locationOf(key), cause));
    },
    async remove(ref, putBefore) {
      const key = findKey(ref);
      if (key === undefined) return true;
      const putAt = await objects.putAtOf("bodies.remove", key);
      if (putAt === undefined) return true;
      if (!(putAt < putBefore)) return false; // also if the server does not return the time (NaN)
      await objects.remove("bodies.remove", key);
      return true;
    },
  };
}
