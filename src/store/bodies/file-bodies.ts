/**
 * Bodies as files, named by what is in them: `ab/cd/<sha256>.gz`. Any number of workers in any number of processes may
 * put the same body at once: each writes a file of its own under `tmp/` and renames it, so a body is there whole or not
 * at all. A crash leaves at most unfinished files in `tmp/`, which nothing reads; they may be removed while no worker runs.
 */
import { hash } from "node:crypto";
import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { syncFolder } from "../durable-rename.ts";
import type { Bodies } from "./bodies.ts";
import { fail, keepFile, readCompressed } from "./files.ts";

// Level 4 makes HTML 4.6 times smaller in 1.4 ms per 100 KB; level 6 takes a quarter longer for 4 % less.
const GZIP_LEVEL = 4;

const REF = /^sha256:([0-9a-f]{64})$/;

const compress = promisify(gzip);

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
      return readCompressed(path).catch((cause: unknown) => fail("bodies.get", path, cause));
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
  await keepFile(root, path, await compress(body, { level: GZIP_LEVEL }));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false, // whatever is wrong with it, writing it will tell
  );
}
