/**
 * Large request bodies as files: `requests/<job>/<sha256>.gz`. Any number of processes may store the same body at once.
 * A body is complete or absent.
 */
import { access, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BodySettings } from "../../domain/request.ts";
import { syncFolder } from "../durable-rename.ts";
import type { RequestBodies } from "./bodies.ts";
import { compressBody, findRequestKey, nameOf, onceAtATime, requestFolder } from "./body-name.ts";
import { fail, keepFile, readCompressed } from "./files.ts";

/** Stores request bodies under `root`, the folder of bodies. Creates the folder on first use. */
export function openFileRequestBodies(root: string, settings: BodySettings): RequestBodies {
  const keep = onceAtATime((path, body) => writeOnce(root, path, body));
  return {
    settings,
    async put(jobId, body) {
      const bytes = Buffer.from(body);
      const { ref } = nameOf(bytes);
      const path = join(root, findRequestKey(jobId, ref) ?? "");
      await keep(path, bytes).catch((cause: unknown) => fail("requests.put", path, cause));
      return ref;
    },
    async find(jobId, ref) {
      const key = findRequestKey(jobId, ref);
      if (key === undefined) return undefined;
      const path = join(root, key);
      const bytes = await readCompressed(path).catch((cause: unknown) => fail("requests.find", path, cause));
      return bytes?.toString("utf8");
    },
    async removeAll(jobId) {
      const folder = join(root, requestFolder(jobId));
      const options = { recursive: true, force: true } as const;
      await rm(folder, options).catch((cause: unknown) => fail("requests.remove", folder, cause));
    },
  };
}

async function writeOnce(root: string, path: string, body: Buffer): Promise<void> {
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (!exists) return keepFile(root, path, await compressBody(body));
  // Another process may have just created the file, and its name may not be durable yet.
  await syncFolder(dirname(path));
}
