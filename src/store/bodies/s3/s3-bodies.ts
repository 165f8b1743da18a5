/**
 * Bodies in a bucket, under the names that a folder gives them: a folder of bodies copied there is found. Any number of
 * workers may put the same body at once: what two of them send is the same.
 *
 * When a body was last put is the object's own time: one that was put long ago is sent again, so that whoever would remove
 * it sees that somebody wants it. Between that look and the removal lies one round trip: a body that nobody has wanted for
 * an hour and somebody puts in those milliseconds is lost, and its page says so when it is read.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Bodies } from "../bodies.ts";
import { compressBody, findKey, nameOf, onceAtATime } from "../body-name.ts";
import { failDamaged } from "./s3-failure.ts";
import type { S3Objects } from "./s3-objects.ts";

const decompress = promisify(gunzip);

/** Half of what a body must have been left alone for before it may be removed. */
const RENEW_MS = 30 * 60_000;

/** Equal bodies are kept, and as a rule sent, once. */
export function openS3Bodies(objects: S3Objects, now: () => number): Bodies {
  const keep = onceAtATime(async (key, body) => {
    // Asked for, and not left to If-None-Match: not every server knows that of a PUT, and the body is sent in any case.
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
      return decompress(bytes).catch((cause: unknown) => failDamaged("bodies.get", objects.placeOf(key), cause));
    },
    async remove(ref, putBefore) {
      const key = findKey(ref);
      if (key === undefined) return true;
      const putAt = await objects.putAtOf("bodies.remove", key);
      if (putAt === undefined) return true;
      if (!(putAt < putBefore)) return false; // nor where the server does not tell
      await objects.remove("bodies.remove", key);
      return true;
    },
  };
}
