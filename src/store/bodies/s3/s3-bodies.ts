/**
 * Bodies in a bucket, under the names that a folder gives them: a folder of bodies copied there is found. Any number of
 * workers may put the same body at once: what two of them send is the same.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Bodies } from "../bodies.ts";
import { compressBody, findKey, nameOf, onceAtATime } from "../body-name.ts";
import { failDamaged } from "./s3-failure.ts";
import type { S3Objects } from "./s3-objects.ts";

const decompress = promisify(gunzip);

/** Equal bodies are kept, and as a rule sent, once. */
export function openS3Bodies(objects: S3Objects): Bodies {
  const keep = onceAtATime(async (key, body) => {
    // Asked for, and not left to If-None-Match: not every server knows that of a PUT, and the body is sent in any case.
    if (await objects.isKnown("bodies.put", key)) return;
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
  };
}
