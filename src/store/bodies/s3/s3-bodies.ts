/**
 * Bodies in a bucket, with the same names as in a folder, so a folder of bodies can be copied to a bucket. Any number
 * of workers may store the same body at once, because they all write the same content.
 *
 * The time of an object is the time at which the body was last stored. A worker that stores an old body sends it again,
 * so that a process that removes orphans sees a recent time. That process checks the time, and removes the object one
 * round trip later. A body that was unused for an hour and is stored again between these two requests is lost. Reading
 * its page then reports the missing body.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Bodies } from "../bodies.ts";
import { compressBody, findKey, nameOf, onceAtATime } from "../body-name.ts";
import { failDamaged } from "./s3-failure.ts";
import type { S3Objects } from "./s3-objects.ts";

const decompress = promisify(gunzip);

/** A body that was stored longer ago than this is sent again. It is half of the age at which a body may be removed. */
const RENEW_MS = 30 * 60_000;

/** Stores bodies in a bucket. Equal bodies are stored once, and usually sent once. */
export function openS3Bodies(objects: S3Objects, now: () => number): Bodies {
  const keep = onceAtATime(async (key, body) => {
    // An explicit check instead of If-None-Match: not every server supports that header for PUT, and the body would be
    // sent anyway.
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
