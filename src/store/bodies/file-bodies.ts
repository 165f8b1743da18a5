/**
 * Bodies as files, named by what is in them: `ab/cd/<sha256>.gz`. Any number of workers in any number of processes may
 * put the same body at once: each writes a file of its own under `tmp/` and renames it, so a body is there whole or not
 * at all. A crash leaves at most unfinished files in `tmp/`, which nothing reads; they may be removed while no worker runs.
 */
import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../durable-rename.ts";
import type { Bodies } from "./bodies.ts";
import { compressBody, findKey, nameOf, onceAtATime } from "./body-name.ts";
import { fail, keepFile, readCompressed } from "./files.ts";

/** Keeps bodies under `root`, made when first needed. Equal bodies are kept once. */
export function openFileBodies(root: string): Bodies {
  const keep = onceAtATime((path, body) => writeBody(root, path, body));
  return {
    put: async (body) => {
      const { ref, key } = nameOf(body);
      const path = join(root, key);
      await keep(path, body).catch((cause: unknown) => fail("bodies.put", path, cause));
      return ref;
    },
    get: async (ref) => {
      const key = findKey(ref);
      if (key === undefined) return undefined;
      const path = join(root, key);
      return readCompressed(path).catch((cause: unknown) => fail("bodies.get", path, cause));
    },
  };
}

async function writeBody(root: string, path: string, body: Buffer): Promise<void> {
  if (await exists(path)) {
    // Another process may have renamed it a moment ago, and not yet made the name durable.
    await syncFolder(dirname(path));
    return;
  }
  await keepFile(root, path, await compressBody(body));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false, // whatever is wrong with it, writing it will tell
  );
}
