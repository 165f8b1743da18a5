/**
 * A file that is written atomically: data goes to `<path>.part`, which is renamed on close. A crash leaves the `.part`
 * file and the previous file. One caller writes, one call at a time.
 */
import { constants } from "node:fs";
import { access, type FileHandle, open, realpath, rm, stat } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { isTrawlError, TrawlError } from "../../errors.ts";
import { renameDurably } from "../durable-rename.ts";

export type PartFile = {
  /** Resolves when it can accept more. */
  write(part: string | Uint8Array): Promise<void>;
  /** Flushes the data to disk and renames the file. If that fails, `abort` can still clean up. */
  close(): Promise<void>;
  /** Removes the `.part` file and keeps the previous file. No effect after `close`. */
  abort(): Promise<void>;
};

const FIXES: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `the folder ${dirname(path)} does not exist: create it first, or choose another`,
  ENOTDIR: (path) => `${dirname(path)} is not a folder: choose another path`,
  EISDIR: () => "the path is a folder: choose a file in it",
  EACCES: () => "this user cannot write there: choose another path, or change the permissions",
  EPERM: () => "this user cannot write there: choose another path, or change the permissions",
  EROFS: () => "the disk is mounted read-only: choose a path elsewhere",
  ENOSPC: () => "the disk is full: free some space, or choose a path elsewhere",
  EDQUOT: () => "the disk quota of this user is used up: free some space, or choose a path elsewhere",
  ENAMETOOLONG: () => "the name is too long: choose a shorter one",
  EPIPE: () => "the process that read from the pipe has closed it",
};

/** Opens an output for writing from the start. Throws BAD_OUTPUT, with the path and the fix. */
export async function openPartFile(path: string): Promise<PartFile> {
  const coded = <T>(work: () => Promise<T>): Promise<T> => work().catch((cause: unknown) => fail(path, cause));
  const target = await coded(() => findTarget(path));
  const part = target.isPlain ? `${target.path}.part` : target.path;
  const handle = await coded(() => open(part, "w"));
  let isOpen = true;

  return {
    write: (part) => coded(() => handle.writeFile(part)),
    close: async () => {
      if (!isOpen) return;
      await coded(() => finish(handle, target.isPlain ? { part, path: target.path } : undefined));
      isOpen = false;
    },
    abort: async () => {
      if (!isOpen) return;
      isOpen = false;
      await coded(async () => {
        await handle.close();
        if (target.isPlain) await rm(part, { force: true });
      });
    },
  };
}

/**
 * The file to write. For a symbolic link it is the target. A pipe or device (`/dev/stdout`) is written in place,
 * because renaming would replace it.
 */
async function findTarget(path: string): Promise<{ path: string; isPlain: boolean }> {
  if (path === "" || path.endsWith(sep)) throw notAFile();
  const found = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return { path, isPlain: true };
  if (found.isDirectory()) throw notAFile();
  // A rename needs write access to the folder only, so it would replace a write-protected file.
  await access(path, constants.W_OK);
  return { path: found.isFile() ? await realpath(path) : path, isPlain: found.isFile() };
}

function notAFile(): Error {
  return Object.assign(new Error("not a file name"), { code: "EISDIR" });
}

async function finish(handle: FileHandle, naming: { part: string; path: string } | undefined): Promise<void> {
  if (naming !== undefined) await handle.sync();
  await handle.close();
  if (naming !== undefined) await renameDurably(naming.part, naming.path);
}

function fail(path: string, cause: unknown): never {
  if (isTrawlError(cause)) throw cause;
  const fix = FIXES[codeOf(cause)]?.(path) ?? "choose another path";
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new TrawlError("BAD_OUTPUT", {
    op: "export.output",
    message: `output ${JSON.stringify(path)}: ${reason}; ${fix}`,
    detail: { path },
    cause,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
