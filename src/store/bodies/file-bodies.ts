/**
 * Bodies as files, named by what is in them: `ab/cd/<sha256>.gz`. Any number of workers in any number of processes may
 * put the same body at once: each writes a file of its own under `tmp/` and renames it, so a body is there whole or not
 * at all. A crash leaves at most unfinished files in `tmp/`, which nothing reads; they may be removed while no worker runs.
 */
import { hash, randomUUID } from "node:crypto";
import { access, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { TrawlError } from "../../errors.ts";
import { renameDurably, syncFolder } from "../durable-rename.ts";
import type { Bodies } from "./bodies.ts";

// Level 4 makes HTML 4.6 times smaller in 1.4 ms per 100 KB; level 6 takes a quarter longer for 4 % less.
const GZIP_LEVEL = 4;

const REF = /^sha256:([0-9a-f]{64})$/;

const FIXES: Readonly<Record<string, string>> = {
  EACCES: "give this user the right to read and write the folder",
  EPERM: "give this user the right to read and write the folder",
  EROFS: "its disk is mounted read-only: name a folder elsewhere in TRAWL_BODIES",
  ENOSPC: "the disk is full: free some space, then go on where you were",
  EDQUOT: "this user's share of the disk is used up: free some space",
  EEXIST: "a part of its path is a file: name a folder in TRAWL_BODIES",
  ENOTDIR: "a part of its path is a file: name a folder in TRAWL_BODIES",
  Z_DATA_ERROR: "the file is damaged: remove it, and fetch the page again",
  Z_BUF_ERROR: "the file is damaged: remove it, and fetch the page again",
};

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Keeps bodies under `root`, made when first needed. Equal bodies are kept once. */
export function openFileBodies(root: string): Bodies {
  /** Puts under way, so that equal bodies that come together are written once. */
  const writing = new Map<string, Promise<void>>();

  function keep(hex: string, body: Buffer): Promise<void> {
    const under = writing.get(hex);
    if (under !== undefined) return under;
    const kept = writeBody(root, pathOf(root, hex), body).finally(() => writing.delete(hex));
    writing.set(hex, kept);
    return kept;
  }

  return {
    put: async (body) => {
      const hex = hash("sha256", body, "hex");
      await keep(hex, body).catch((cause: unknown) => fail("bodies.put", pathOf(root, hex), cause));
      return `sha256:${hex}`;
    },
    get: async (ref) => {
      // The pattern also keeps a made-up reference from naming a file elsewhere.
      const hex = REF.exec(ref)?.[1];
      if (hex === undefined) return undefined;
      const path = pathOf(root, hex);
      return readBody(path).catch((cause: unknown) => fail("bodies.get", path, cause));
    },
  };
}

function pathOf(root: string, hex: string): string {
  return join(root, hex.slice(0, 2), hex.slice(2, 4), `${hex}.gz`);
}

async function writeBody(root: string, path: string, body: Buffer): Promise<void> {
  if (await exists(path)) {
    // Another process may have renamed it a moment ago, and not yet made the name durable.
    await syncFolder(dirname(path));
    return;
  }
  const part = join(root, "tmp", randomUUID());
  await makeFolders(root, dirname(path));
  try {
    await writeDurably(part, await compress(body, { level: GZIP_LEVEL }));
    await renameDurably(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function makeFolders(root: string, folder: string): Promise<void> {
  await mkdir(join(root, "tmp"), { recursive: true });
  if ((await mkdir(folder, { recursive: true })) === undefined) return;
  // New folders are names too: ab/ in the root, cd/ in ab/.
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

async function readBody(path: string): Promise<Buffer | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  return decompress(bytes);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false, // whatever is wrong with it, writing it will tell
  );
}

function fail(op: string, path: string, cause: unknown): never {
  const fix = FIXES[codeOf(cause)] ?? "check the folder in TRAWL_BODIES and its disk";
  const words = cause instanceof Error ? cause.message : String(cause);
  throw new TrawlError("STORE_UNREACHABLE", {
    op,
    message: `body ${path}: ${words}; ${fix}`,
    detail: { path },
    cause,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
