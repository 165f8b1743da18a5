/** Store tests that need real processes, for every backend: writers that are killed, and concurrent writers. */
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

/** A store that does not exist yet, and the path that processes open. */
export type SharedFixture = { path: string; open(): Promise<Store>; remove(): Promise<void> };

export function describeProcesses(name: string, prepare: () => Promise<SharedFixture>): void {
  describe(`a store on ${name} shared by processes`, () => {
    let fixture: SharedFixture;
    let path: string;
    let store: Store | undefined;

    beforeEach(async () => {
      fixture = await prepare();
      path = fixture.path;
      store = undefined;
    });
    afterEach(async () => {
      await store?.close();
      await fixture.remove();
    });

    it("contains every confirmed batch and no partial batch after its writer was killed", async () => {
      const confirmed: { name: string; batches: number }[] = [];
      for (const name of ["first", "second", "third"]) {
        const killAfter = 1 + Math.floor(Math.random() * 60);
        confirmed.push({ name, batches: await killAfterLines(startWriter(path, name, FOREVER, "own"), killAfter) });
      }

      store = await fixture.open();

      const pages = await store.readPages("job", 0, 1_000_000);
      const records = await store.readRecords("job", 0, 1_000_000);
      for (const { name, batches } of confirmed) {
        const stored = pages.filter(({ taskId }) => taskId.startsWith(`${name}-`)).length;
        expect(stored, `${name}: ${batches} batches confirmed`).toBeGreaterThanOrEqual(batches * BATCH_PAGES);
        expect(stored % BATCH_PAGES, `${name}: a batch is stored in part`).toBe(0);
      }
      expect(records).toHaveLength(pages.length * PAGE_RECORDS);
      expect(new Set(records.map(({ taskId }) => taskId))).toEqual(new Set(pages.map(({ taskId }) => taskId)));
      expect(records.every(({ fields }) => String(fields.filler).length === 4000)).toBe(true);
    });

    it("accepts every write of processes that create the store and write concurrently", async () => {
      const names = ["a", "b", "c", "d"];

      await Promise.all(names.map((name) => finish(startWriter(path, name, 10, "own"))));

      store = await fixture.open();
      const records = await store.readRecords("job", 0, 100_000);
      expect(records).toHaveLength(names.length * 10 * BATCH_PAGES * PAGE_RECORDS);
    });

    it("stores each task with its highest token, from one writer only, if processes write the same tasks", async () => {
      const batches = 30;

      const lines = await Promise.all(
        ["a", "b", "c"].map((name) => finish(startWriter(path, name, batches, "shared"))),
      );

      store = await fixture.open();
      const records = await store.readRecords("job", 0, 100_000);
      const keepers = new Set(records.map(({ taskId, fields }) => `${taskId} ${fields.name} ${fields.batch}`));
      expect(records).toHaveLength(BATCH_PAGES * PAGE_RECORDS);
      expect(keepers.size).toBe(BATCH_PAGES);
      expect(records.every(({ fields }) => fields.batch === batches - 1)).toBe(true);
      expect(lines.flat()).toHaveLength(3 * batches);
    });

    it("returns every record once and in order to a reader that follows concurrent writers", async () => {
      const names = ["a", "b", "c", "d"];
      const batches = 40;
      const reader = await fixture.open();
      store = reader;
      const seen: { records: StoredRecord[]; pages: StoredPage[] } = { records: [], pages: [] };
      const readMore = async () => {
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
      // SQLite answers synchronously. Without a turn of the event loop in between, the test never sees the writers
      // exit.
      while (isWriting) await readMore().then(() => nextTurn());
      await written;
      while ((await readMore()) > 0);

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

/** Kills the writer as soon as it has printed `answers` lines, and returns the number of lines it printed in total. */
async function killAfterLines(writer: ChildProcess, answers: number): Promise<number> {
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
