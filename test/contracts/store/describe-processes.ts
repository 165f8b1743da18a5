/** What only real processes can show of a store, whatever backend: writers that die in the middle of it, and writers that race. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store, StoredPage, StoredRecord } from "../../../src/store/store.ts";
import { useProgram } from "../../services/program.ts";
import { BATCH_PAGES, PAGE_RECORDS } from "./writer-shape.ts";

const program = useProgram(new URL("./writer-process.ts", import.meta.url));
const FOREVER = 1_000_000;

/** A place that does not exist yet, as processes are told of it. */
export type SharedSite = { path: string; open(): Promise<Store>; remove(): Promise<void> };

export function describeProcesses(name: string, prepare: () => Promise<SharedSite>): void {
  describe(`a store on ${name} shared by processes`, () => {
    let site: SharedSite;
    let path: string;
    let store: Store | undefined;

    beforeEach(async () => {
      site = await prepare();
      path = site.path;
      store = undefined;
    });
    afterEach(async () => {
      await store?.close();
      await site.remove();
    });

    it("has every answered write, whole, and no half batch after its writer was killed at a random moment", async () => {
      const answered: { name: string; batches: number }[] = [];
      for (const name of ["first", "second", "third"]) {
        const killAfter = 1 + Math.floor(Math.random() * 60);
        answered.push({ name, batches: await killAfterAnswers(startWriter(path, name, FOREVER, "own"), killAfter) });
      }

      store = await site.open();

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

      store = await site.open();
      const records = await store.readRecords("job", 0, 100_000);
      expect(records).toHaveLength(names.length * 10 * BATCH_PAGES * PAGE_RECORDS);
    });

    it("gives each task to its highest token, from one writer only, when processes race for the same tasks", async () => {
      const batches = 30;

      const lines = await Promise.all(
        ["a", "b", "c"].map((name) => finish(startWriter(path, name, batches, "shared"))),
      );

      store = await site.open();
      const records = await store.readRecords("job", 0, 100_000);
      const keepers = new Set(records.map(({ taskId, fields }) => `${taskId} ${fields.name} ${fields.batch}`));
      expect(records).toHaveLength(BATCH_PAGES * PAGE_RECORDS);
      expect(keepers.size).toBe(BATCH_PAGES);
      expect(records.every(({ fields }) => fields.batch === batches - 1)).toBe(true);
      expect(lines.flat()).toHaveLength(3 * batches);
    });

    it("shows a reader that follows every record once, in order, while processes write as fast as they can", async () => {
      const names = ["a", "b", "c", "d"];
      const batches = 40;
      const reader = await site.open();
      store = reader;
      const seen: { records: StoredRecord[]; pages: StoredPage[] } = { records: [], pages: [] };
      const look = async () => {
        const [records, pages] = await Promise.all([
          reader.readRecords("job", seen.records.at(-1)?.id ?? 0, 1_000),
          reader.readPages("job", seen.pages.at(-1)?.id ?? 0, 1_000),
        ]);
        seen.records.push(...records);
        seen.pages.push(...pages);
        return records.length + pages.length;
      };

      let isWriting = true;
      const written = Promise.all(names.map((name) => finish(startWriter(path, name, batches, "own")))).finally(() => {
        isWriting = false;
      });
      // A turn of the loop in between: SQLite answers at once, and nobody would hear that the writers have ended.
      while (isWriting) await look().then(() => nextTurn());
      await written;
      while ((await look()) > 0);

      expect(seen.pages).toHaveLength(names.length * batches * BATCH_PAGES);
      expect(seen.records).toHaveLength(seen.pages.length * PAGE_RECORDS);
      expect(seen.records).toEqual(await reader.readRecords("job", 0, 1_000_000));
      expect(seen.pages).toEqual(await reader.readPages("job", 0, 1_000_000));
    });
  });
}

function startWriter(path: string, name: string, batches: number, tasks: "own" | "shared"): ChildProcess {
  return spawn(process.execPath, [program(), path, name, String(batches), tasks], {
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
