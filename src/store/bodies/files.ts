/** Reads and writes the files of bodies and spooled pages. Writes are atomic. */
import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { TrawlError } from "../../errors.ts";
import { renameDurably, syncFolder } from "../durable-rename.ts";

const FIXES: Readonly<Record<string, string>> = {
  EACCES: "grant this user read and write access to the folder",
  EPERM: "grant this user read and write access to the folder",
  EROFS: "its disk is mounted read-only: set another folder in TRAWL_BODIES",
  ENOSPC: "the disk is full: free some space, then retry",
  EDQUOT: "the disk quota of this user is used up: free some space",
  EEXIST: "a part of its path is a file: set a folder in TRAWL_BODIES",
  ENOTDIR: "a part of its path is a file: set a folder in TRAWL_BODIES",
  Z_DATA_ERROR: "the file is damaged: remove it, and fetch the page again",
  Z_BUF_ERROR: "the file is damaged: remove it, and fetch the page again",
};

const decompress = promisify(gunzip);

/** Writes or replaces a file at most two folders below `root`. Resolves once it is durable. */
export async function keepFile(root: string, path: string, bytes: Buffer): Promise<void> {
  const part = join(root, "tmp", randomUUID());
  await makeFolders(root, dirname(path));
  try {
    await writeDurably(part, bytes);
    await renameDurably(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Reads a file. Returns undefined if it does not exist. */
export async function findFile(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads and decompresses a file. Returns undefined if it does not exist. */
export async function readCompressed(path: string): Promise<Buffer | undefined> {
  const bytes = await findFile(path);
  return bytes === undefined ? undefined : decompress(bytes);
}

/** Throws STORE_UNREACHABLE. The message contains the reason and how to fix it. */
export function fail(op: string, path: string, cause: unknown): never {
  const fix = FIXES[codeOf(cause)] ?? "check the folder in TRAWL_BODIES and its disk";
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new TrawlError("STORE_UNREACHABLE", {
    op,
    message: `body ${path}: ${reason}; ${fix}`,
    detail: { path },
    cause,
  });
}

async function makeFolders(root: string, folder: string): Promise<void> {
  await mkdir(join(root, "tmp"), { recursive: true });
  if ((await mkdir(folder, { recursive: true })) === undefined) return;
  // The names of new folders must be durable too: the name `ab` is in the root, and the name `cd` is in `ab`.
  await syncFolder(dirname(folder));
  await syncFolder(root);
}

async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const handle = await open(path, "wx");
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
