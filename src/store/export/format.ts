import { extname } from "node:path";
import { TrawlError } from "../../errors.ts";

/** How records may be written out: a JSON object a line, one JSON array, RFC 4180 with a header, or typed columns. */
export const EXPORT_FORMATS = ["jsonl", "json", "csv", "parquet"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
/** Those that a person or a pipe of lines can read. */
export type TextFormat = Exclude<ExportFormat, "parquet">;

const ALIASES: Readonly<Record<string, ExportFormat>> = {
  jsonl: "jsonl",
  ndjson: "jsonl",
  json: "json",
  csv: "csv",
  parquet: "parquet",
};

/** The format a file's name asks for; BAD_OUTPUT if it asks for none we write. */
export function formatOf(path: string): ExportFormat {
  return parseFormat(extname(path).slice(1), path);
}

/** The format of that name; `path` is for the message. */
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
  if (name === "") return "its name does not end in a format";
  return "no such format is known";
}
