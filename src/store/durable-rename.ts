import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Renames a file, replacing any file of the new name. When it resolves, the new name survives a power failure. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

/** Flushes the entries of a folder to disk, so that they survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder. NTFS journals file names itself.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
