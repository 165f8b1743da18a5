/**
 * Parquet: typed columns in row groups. Each group is written before the next begins, so memory is bounded by one
 * group. The types apply to the whole file, so `begin` reads all records once to find them.
 */
import { ByteWriter, type ColumnSource, ParquetWriter } from "hyparquet-writer";
import { TrawlError } from "../../errors.ts";
import type { StoredRecord } from "../store.ts";
import type { ColumnKind, Columns } from "./column-kind.ts";
import type { CsvOptions } from "./csv-writer.ts";
import { LINE_COLUMNS } from "./record-line.ts";
import type { RecordWriter } from "./record-writer.ts";

/** Accepts bytes. Resolves when it can accept more. */
type ByteSink = { write(bytes: Uint8Array): Promise<void> };

type Element = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];
type Typed = Omit<Element, "name">;
type LineColumn = (typeof LINE_COLUMNS)[number];
type Group = { rows: number; chars: number; cells: Map<string, unknown[]> };

const TYPES: Readonly<Record<ColumnKind, Typed>> = {
  empty: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  // Also for integers: the type of a price column must not depend on whether the prices of one export are integers.
  number: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" },
  json: { type: "BYTE_ARRAY", converted_type: "JSON" },
};

const LINE_TYPES: Readonly<Record<LineColumn, Typed>> = {
  _url: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  _status: { type: "INT32" },
  _fetchedAt: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  _job: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  _depth: { type: "INT32" },
};

// A row group is full when it reaches one of these limits. The limit on rows helps readers of the file; the others
// bound the memory of this process.
const MAX_ROWS = 50_000;
const MAX_CHARS = 16 * 1024 * 1024;
const MAX_CELLS = 2_000_000;

/** The writer for Parquet. `columns` come first, and exist even if no record has them. */
export function createParquetWriter(sink: ByteSink, { columns = [] }: Partial<CsvOptions>): RecordWriter {
  const bytes = new ByteWriter();
  let parquet: ParquetWriter | undefined;
  let kinds: Columns = new Map();
  let group = emptyGroup([]);

  function names(): string[] {
    return [...kinds.keys(), ...LINE_COLUMNS];
  }

  function start(found: Columns): ParquetWriter {
    const wanted = new Map<string, ColumnKind>(columns.map((name) => [name, "empty"]));
    for (const [name, kind] of found) wanted.set(name, kind);
    for (const name of LINE_COLUMNS) wanted.delete(name);
    kinds = wanted;
    group = emptyGroup(names());
    parquet = new ParquetWriter({ writer: bytes, schema: schemaOf(kinds) });
    return parquet;
  }

  async function writeGroup(writer: ParquetWriter): Promise<void> {
    if (group.rows === 0) return;
    const columnData = [...group.cells].map(([name, cells]): ColumnSource => ({ name, data: cells as never }));
    await writer.write({ columnData, rowGroupSize: group.rows });
    group = emptyGroup(names());
    await flush();
  }

  async function flush(): Promise<void> {
    await sink.write(bytes.getBytes());
    bytes.index = 0; // restarts the buffer; `offset`, the number of bytes written so far, is kept
  }

  return {
    async begin(findColumns) {
      if (parquet === undefined) start(await findColumns());
    },
    async write(records) {
      if (parquet === undefined) throw new Error("write was called before begin on a Parquet writer");
      for (const record of records) {
        addRow(group, kinds, record);
        if (isFull(group)) await writeGroup(parquet);
      }
    },
    async end() {
      const writer = parquet ?? start(new Map());
      await writeGroup(writer);
      await writer.finish();
      await flush();
    },
  };
}

function emptyGroup(names: readonly string[]): Group {
  return { rows: 0, chars: 0, cells: new Map(names.map((name) => [name, []])) };
}

function isFull({ rows, chars, cells }: Group): boolean {
  return rows >= MAX_ROWS || chars >= MAX_CHARS || rows * cells.size >= MAX_CELLS;
}

function schemaOf(kinds: Columns): Element[] {
  const own = [...kinds].map(([name, kind]): Element => ({ name, ...TYPES[kind], repetition_type: "OPTIONAL" }));
  const ours = LINE_COLUMNS.map((name): Element => ({ name, ...LINE_TYPES[name], repetition_type: "REQUIRED" }));
  return [{ name: "root", num_children: own.length + ours.length }, ...own, ...ours];
}

function addRow(group: Group, kinds: Columns, record: StoredRecord): void {
  refuseUnknown(kinds, record);
  const line: Record<LineColumn, unknown> = {
    _url: record.url,
    _status: record.status,
    _fetchedAt: new Date(record.fetchedAt),
    _job: record.jobId,
    _depth: record.depth,
  };
  for (const [name, cells] of group.cells) {
    const isOurs = Object.hasOwn(line, name);
    // `fields[name]` alone would find inherited properties such as `toString`.
    const value = isOurs ? line[name as LineColumn] : Object.hasOwn(record.fields, name) ? record.fields[name] : null;
    cells.push(value ?? null);
    group.chars += lengthOf(value);
  }
  group.rows += 1;
}

/** Estimates the memory of a value. The result is too low for a nested value, which needs more memory than its JSON. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  return typeof value === "object" && value !== null && !(value instanceof Date) ? JSON.stringify(value).length : 8;
}

function refuseUnknown(kinds: Columns, { fields, id, jobId, url }: StoredRecord): void {
  const ours = new Set<string>(LINE_COLUMNS);
  const unknown = Object.keys(fields).find((name) => !kinds.has(name) && !ours.has(name));
  if (unknown === undefined) return;
  throw new TrawlError("BAD_OUTPUT", {
    op: "export.parquet",
    message: `record ${id} of ${url} has the field ${JSON.stringify(unknown)}, which did not exist when the columns were collected; export again when the job has ended`,
    detail: { jobId, id, field: unknown },
  });
}
