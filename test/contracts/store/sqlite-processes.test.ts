/** What only real processes can show: writers that die in the middle of it, and writers that race. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/open-sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { BATCH_PAGES, PAGE_RECORDS } from "./writer-shape.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PROGRAM = fileURLToPath(new URL("./writer-process.ts", import.meta.url));
const FOREVER = 1_000_000;

describe("a store shared by processes", () => {
  let folder: string;
  let path: string;
  let store: Store | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trawl-store-"));
    path = join(folder, "store.db");
    store = undefined;
  });
  afterEach(async () => {
    await store?.close();
    await rm(folder, { recursive: true });
  });

  it("has every answered write, whole, and no half batch after its writer was killed at a random moment", async () => {
    const answered: { name: string; batches: number }[] = [];
    for (const name of ["first", "second", "third"]) {
      const killAfter = 1 + Math.floor(Math.random() * 60);
      answered.push({ name, batches: await killAfterAnswers(startWriter(path, name, FOREVER, "own"), killAfter) });
    }

    store = openSqliteStore(path, { busyMs: 10_000 });

    const pages = await store.readPages("job", 0, 1_000_000);
    const records = await store.readRecords("job", 0, 1_000_000);
    for (const { name, batches } of answered) {
      const stored = pages.filter(({ taskId }) => taskId.startsWith(`${name}-`)).length;
      expect(stored, `${name}: ${batches} batches answered`).toBeGreaterThanOrEqual(batches * BATCH_PAGES);
      expect(stored % BATCH_PAGES, `${name}: a batch is there in part`).toBe(0);
    }
    expect(records).toHaveLength(pages.length * PAGE_RECORDS);
    expect(new Set(records.map(({ taskId }) => taskId))).toEqual(new Set(pages.map(({ taskId }) => taskId)));
    expect(records.every(({ fields }) => String(fields.filler).length === 4000)).toBe(true);
  });

  it("takes every write of processes that make the file and write at once", async () => {
    const names = ["a", "b", "c", "d"];

    await Promise.all(names.map((name) => finish(startWriter(path, name, 10, "own"))));

    store = openSqliteStore(path, { busyMs: 10_000 });
    const records = await store.readRecords("job", 0, 100_000);
    expect(records).toHaveLength(names.length * 10 * BATCH_PAGES * PAGE_RECORDS);
  });

  it("gives each task to its highest token, from one writer only, when processes race for the same tasks", async () => {
    const batches = 30;

    const lines = await Promise.all(["a", "b", "c"].map((name) => finish(startWriter(path, name, batches, "shared"))));

    store = openSqliteStore(path, { busyMs: 10_000 });
    const records = await store.readRecords("job", 0, 100_000);
    const keepers = new Set(records.map(({ taskId, fields }) => `${taskId} ${fields.name} ${fields.batch}`));
    expect(records).toHaveLength(BATCH_PAGES * PAGE_RECORDS);
    expect(keepers.size).toBe(BATCH_PAGES);
    expect(records.every(({ fields }) => fields.batch === batches - 1)).toBe(true);
    expect(lines.flat()).toHaveLength(3 * batches);
  });
});

/** jiti is how a plain Node runs our TypeScript; vitest's own transform does not reach other processes. */
function startWriter(path: string, name: string, batches: number, tasks: "own" | "shared"): ChildProcess {
  return spawn(process.execPath, ["--import", "jiti/register", PROGRAM, path, name, String(batches), tasks], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Kills the writer as soon as it has printed that many answers; counts all it printed. */
async function killAfterAnswers(writer: ChildProcess, answers: number): Promise<number> {
  let printed = 0;
  for await (const _ of linesOf(writer)) {
    printed += 1;
    if (printed === answers) writer.kill("SIGKILL");
  }
  expect(printed).toBeGreaterThanOrEqual(answers);
  return printed;
}

async function finish(writer: ChildProcess): Promise<string[]> {
  const ended = once(writer, "exit");
  const lines: string[] = [];
  for await (const line of linesOf(writer)) lines.push(line);
  expect(await ended).toEqual([0, null]);
  return lines;
}

function linesOf({ stdout }: ChildProcess): AsyncIterable<string> {
  if (stdout === null) throw new Error("the writer was started without a pipe");
  return createInterface({ input: stdout });
}
