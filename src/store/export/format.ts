import { extname } from "node:path";
import { TrawlError } from "../../errors.ts";

/** Output formats: one JSON object per line, one JSON array, CSV with a header, or typed columns. */
export const EXPORT_FORMATS = ["jsonl", "json", "csv", "parquet"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
/** The formats that are text. Parquet is binary. */
export type TextFormat = Exclude<ExportFormat, "parquet">;

const ALIASES: Readonly<Record<string, ExportFormat>> = {
  jsonl: "jsonl",
  ndjson: "jsonl",
  json: "json",
  csv: "csv",
  parquet: "parquet",
};

/** The format by file extension. Throws BAD_OUTPUT if it is unknown. */
export function formatOf(path: string): ExportFormat {
  return parseFormat(extname(path).slice(1), path);
}

/** The format by name. `path` is used in the error message. */
export function parseFormat(name: string, path?: string): ExportFormat {
  const format = Object.hasOwn(ALIASES, name.toLowerCase()) ? ALIASES[name.toLowerCase()] : undefined;
  if (format !== undefined) return format;
  const subject = path === undefined ? `format ${JSON.stringify(name)}` : `output ${path}`;
  throw new TrawlError("BAD_OUTPUT", {
    op: "export.format",
    message: `${subject}: ${whyNot(name)}; use one of ${Object.keys(ALIASES).join(", ")}`,
    detail: { name, path },
  });
}

function whyNot(name: string): string {
  if (name === "") return "it has no file extension";
  return "the format is unknown";
}
