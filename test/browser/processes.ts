/**
 * Finds the processes of browsers. The command line of a browser's first process contains the folder of the browser.
 * Its other processes are in the same process group, which belongs to that browser only.
 */
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export type BrowserWatch = {
  /** Command lines of all running processes of all browsers seen so far. */
  lines(): string[];
  stop(): void;
};

const POLL_MS = 50;

/** Watches every browser whose folder starts with `path`. */
export function watchBrowsers(path: string): BrowserWatch {
  const groups = new Set<number>();
  function lines(): string[] {
    const running = listProcesses().filter(({ line }) => line !== "");
    for (const { group, line } of running) if (line.includes(path)) groups.add(group);
    return running.filter(({ group }) => groups.has(group)).map(({ line }) => line);
  }
  const timer = setInterval(lines, POLL_MS).unref();
  return { lines, stop: () => clearInterval(timer) };
}

export function processesIn(group: number | undefined): { pid: number; line: string }[] {
  return listProcesses().filter((one) => one.group === group);
}

/** The process group of the browser with this folder; undefined before it has started. */
export async function findGroup(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, "group"), "utf8").catch(() => "");
  return /^\d+\n$/.test(text) ? Number(text) : undefined;
}

function listProcesses(): { pid: number; group: number; line: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const [, , group] = readOf(name, "stat")
        .replace(/^.*\) /s, "")
        .split(" ");
      return { pid: Number(name), group: Number(group), line: readOf(name, "cmdline") };
    });
}

function readOf(pid: string, file: "cmdline" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // the process has ended
  }
}
