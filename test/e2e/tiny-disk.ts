/** A small file system in memory, to test a full disk. Only root can mount it. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export type TinyDisk = {
  /** The mount point. */
  path: string;
  /** Makes the disk large, like an operator who frees some space. */
  enlarge(): void;
};

/** Why no disk can be mounted on this machine; undefined if a trial mount succeeds. */
export function findMountObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can mount a disk";
  const folder = mkdtempSync(join(tmpdir(), "trawl-mount-"));
  try {
    const { status, stderr } = mount("-t", "tmpfs", "-o", "size=100k", "tmpfs", folder);
    if (status !== 0) return String(stderr).trim();
    unmount(folder);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function mountTinyDisk(kilobytes: number): TinyDisk {
  const path = mkdtempSync(join(tmpdir(), "trawl-disk-"));
  throwIfFailed(mount("-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", path));
  onTestFinished(() => {
    unmount(path);
    rmSync(path, { recursive: true, force: true });
  });
  return { path, enlarge: () => throwIfFailed(mount("-o", "remount,size=100M", path)) };
}

function mount(...args: string[]) {
  return spawnSync("mount", args);
}

function unmount(path: string): void {
  throwIfFailed(spawnSync("umount", ["--lazy", path]));
}

function throwIfFailed({ status, stderr }: { status: number | null; stderr: Buffer }): void {
  if (status !== 0) throw new Error(`mount or umount failed: ${stderr}`);
}
