/**
 * Spooled pages as files. Each file is written whole or not at all. A crash before a removal leaves a file that no
 * worker reads.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { PageSpool, SpooledPageName } from "./bodies.ts";
import { fail, findFile, keepFile } from "./files.ts";
import { packPage, spoolKey, unpackPage } from "./spooled-page-bytes.ts";

/** Stores spooled pages under `root`, the folder of bodies. Creates the folder on first use. */
export function openFileSpool(root: string): PageSpool {
  const pathOf = (name: SpooledPageName) => join(root, spoolKey(name));
  return {
    async put(name, spooled) {
      const path = pathOf(name);
      try {
        await keepFile(root, path, await packPage(spooled));
      } catch (cause) {
        fail("spool.put", path, cause);
      }
    },
    async get(name) {
      const path = pathOf(name);
      const packed = await findFile(path).catch((cause: unknown) => fail("spool.get", path, cause));
      return packed === undefined ? "missing" : unpackPage(packed);
    },
    async remove(name) {
      const path = pathOf(name);
      await rm(path, { force: true }).catch((cause: unknown) => fail("spool.remove", path, cause));
    },
  };
}
