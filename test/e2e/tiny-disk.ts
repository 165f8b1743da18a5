/** A disk that is soon full, made in memory: root alone may mount one. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export type TinyDisk = {
  /** Where it is mounted. */
  path: string;
  /** Makes it large: what a person does who frees some space. */
  relieve(): void;
};

/** Why no disk can be mounted here; undefined if one can. Tries it. */
export function findMountObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "only root may mount a disk";
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
  must(mount("-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", path));
  onTestFinished(() => {
    unmount(path);
    rmSync(path, { recursive: true, force: true });
  });
  return { path, relieve: () => must(mount("-o", "remount,size=100M", path)) };
}

function mount(...words: string[]) {
  return spawnSync("mount", words);
}

function unmount(path: string): void {
  must(spawnSync("umount", ["--lazy", path]));
}

function must({ status, stderr }: { status: number | null; stderr: Buffer }): void {
  if (status !== 0) throw new Error(`mounting failed: ${stderr}`);
}
