/**
 * The job that the user is editing, with the form or as JSON. The rows of the extract fields are stored separately,
 * because a row without a name cannot be part of the job. Parts that the form does not show are kept unchanged.
 */
import type { JobInput } from "../../../../src/client/client.ts";
import type { FieldType, Rule, Rules } from "../../../../src/domain/extraction-rules.ts";

export type FieldRow = {
  /** Identifies the row while its name changes. */
  key: number;
  name: string;
  select: string;
  type: FieldType;
  isRequired: boolean;
  isList: boolean;
  match: string;
  /** A rule that the form cannot show. It can only be edited as JSON. */
  whole?: Rule;
};

export type JobDraft = { job: JobInput; rows: readonly FieldRow[]; each: string };

export const FIELD_TYPES = [
  "text",
  "multiline",
  "number",
  "integer",
  "boolean",
  "url",
  "date",
  "html",
  "json",
] as const satisfies readonly FieldType[];

const EACH = "$each";

export function newDraft(): JobDraft {
  return { job: { urls: [] }, rows: [{ ...newRow(1), name: "title", select: "h1" }], each: "" };
}

export function newRow(key: number): FieldRow {
  return { key, name: "", select: "", type: "text", isRequired: false, isList: false, match: "" };
}

export function draftOf({ extract, ...job }: JobInput): JobDraft {
  const { [EACH]: each, ...fields } = (extract ?? {}) as Rules;
  const rows = Object.entries(fields).map(([name, rule], nth) => rowOf(nth + 1, name, rule));
  return { job, rows, each: typeof each === "string" ? each : "" };
}

/** The job to submit. */
export function jobOf({ job, rows, each }: JobDraft): JobInput {
  const extract = extractOf({ rows, each });
  return withoutEmpty({ ...job, ...(extract === undefined ? {} : { extract }) });
}

/** Undefined without fields: then Trawl extracts title, description, text and links of every page. */
export function extractOf({ rows, each }: Pick<JobDraft, "rows" | "each">): Rules | undefined {
  const named = rows.filter(({ name, select, whole }) => name !== "" && (select !== "" || whole !== undefined));
  if (named.length === 0) return undefined;
  const fields = Object.fromEntries(named.map((row) => [row.name, ruleOf(row)]));
  return each === "" ? fields : { [EACH]: each, ...fields };
}

/** Names that more than one row has: the later row would replace the earlier one. */
export function duplicateNames(rows: readonly FieldRow[]): ReadonlySet<string> {
  const names = rows.map(({ name }) => name).filter((name) => name !== "");
  return new Set(names.filter((name, nth) => names.indexOf(name) !== nth));
}

function rowOf(key: number, name: string, rule: Rule): FieldRow {
  const row = { ...newRow(key), name };
  const isList = Array.isArray(rule);
  const one = isList ? rule[0] : rule;
  if (typeof one === "string") return { ...row, select: one, isList };
  const { select, type = "text", required = false, list = false, match = "", ...more } = one;
  if (Object.keys(more).length > 0) return { ...row, select, whole: rule };
  return { ...row, select, type, isRequired: required, isList: isList || list, match };
}

function ruleOf({ select, type, isRequired, isList, match, whole }: FieldRow): Rule {
  if (whole !== undefined) return whole;
  const detail = {
    ...(type === "text" ? {} : { type }),
    ...(isRequired ? { required: true } : {}),
    ...(match === "" ? {} : { match }),
  };
  const isPlain = Object.keys(detail).length === 0;
  if (isPlain) return isList ? [select] : select;
  return { select, ...detail, ...(isList ? { list: true } : {}) };
}

/** Removes undefined properties, so that unset options are not sent. */
export function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

/** Parts that have a meaning without content: an empty `follow` means to follow all links. */
const MAY_BE_EMPTY = ["follow", "sessions", "login"];

/** Removes other parts of the job without content. */
function withoutEmpty(job: JobInput): JobInput {
  const hasContent = (value: unknown) =>
    value !== undefined &&
    (typeof value !== "object" || value === null || Array.isArray(value) || Object.keys(value).length > 0);
  const entries = Object.entries(job).filter(([key, value]) => MAY_BE_EMPTY.includes(key) || hasContent(value));
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as JobInput;
}
