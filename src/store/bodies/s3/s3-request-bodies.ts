import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { BodySettings } from "../../../domain/request.ts";
import type { RequestBodies } from "../bodies.ts";
import { compressBody, findRequestKey, nameOf, onceAtATime, requestFolder } from "../body-name.ts";
import { failDamaged } from "./s3-failure.ts";
import type { S3Objects } from "./s3-objects.ts";

const decompress = promisify(gunzip);

/** Large request bodies in a bucket: `requests/<job>/<sha256>.gz`. */
export function openS3RequestBodies(objects: S3Objects, settings: BodySettings): RequestBodies {
  const keep = onceAtATime(async (key, body) => {
    if ((await objects.putAtOf("requests.put", key)) !== undefined) return;
    await objects.put("requests.put", key, await compressBody(body));
  });
  return {
    settings,
    async put(jobId, body) {
      const bytes = Buffer.from(body);
      const { ref } = nameOf(bytes);
      await keep(findRequestKey(jobId, ref) ?? "", bytes);
      return ref;
    },
    async find(jobId, ref) {
      const key = findRequestKey(jobId, ref);
      const bytes = key === undefined ? undefined : await objects.find("requests.find", key);
      if (key === undefined || bytes === undefined) return undefined;
      const body = await decompress(bytes).catch((cause: unknown) =>
        failDamaged("requests.find", objects.locationOf(key), cause),
      );
      return body.toString("utf8");
    },
    async removeAll(jobId) {
      // A listing is limited to 1,000 keys. The next one starts with the keys that are left.
      for (;;) {
        const keys = await objects.list("requests.remove", `${requestFolder(jobId)}/`);
        if (keys.length === 0) return;
        for (const key of keys) await objects.remove("requests.remove", key);
      }
    },
  };
}
