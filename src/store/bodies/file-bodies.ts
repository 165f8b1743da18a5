/**
 * Bodies as files, named by content hash: `ab/cd/<sha256>.gz`. Any number of processes may store the same body at once:
 * each writes its own file under `tmp/` and renames it, so a body is complete or absent. A crash leaves at most
 * unfinished files in `tmp/`, which are never read; they may be removed while no worker runs.
 *
 * The modification time of a file is the time at which the body was last stored. To remove a body, a process renames
 * the file and then checks the time again. If another process stored the body just before the rename, the time is
 * recent, and the file is renamed back. A process that stores the body after the rename finds no file and writes one.
 */
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../durable-rename.ts";
import type { Bodies } from "./bodies.ts";
import { compressBody, findKey, nameOf, onceAtATime } from "./body-name.ts";
import { codeOf, fail, keepFile, readCompressed } from "./files.ts";

/** Stores bodies under `root`, created on first use. Equal bodies are stored once. */
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
    remove: async (ref, putBefore) => {
      const key = findKey(ref);
      if (key === undefined) return true;
      const path = join(root, key);
      return removeBody(root, path, putBefore).catch((cause: unknown) => fail("bodies.remove", path, cause));
    },
  };
}

async function removeBody(root: string, path: string, putBefore: number): Promise<boolean> {
  const putAt = await putAtOf(path);
  if (putAt === undefined) return true;
  if (putAt >= putBefore) return false;
  const aside = join(root, "tmp", randomUUID());
  await mkdir(join(root, "tmp"), { recursive: true });
  if (!(await unlessMissing(rename(path, aside)))) return true;
  if (((await putAtOf(aside)) ?? 0) >= putBefore) {
    await rename(aside, path);
    return false;
  }
  await rm(aside, { force: true });
  return true;
}

async function putAtOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function writeBody(root: string, path: string, body: Buffer): Promise<void> {
  if (await renewed(path)) {
    // Another process may have just created the file, and its name may not be durable yet.
    await syncFolder(dirname(path));
    return;
  }
  await keepFile(root, path, await compressBody(body));
}

/**
 * Updates the time of an existing file. Returns false on any error: the caller then writes the file. Unless the file
 * was only missing, that write fails too and reports the error.
 */
async function renewed(path: string): Promise<boolean> {
  const now = new Date();
  return utimes(path, now, now).then(
    () => true,
    () => false,
  );
}

/** Waits for a file operation. Returns false if the file does not exist. */
async function unlessMissing(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
