/**
 * A job that is being written: by the form, or as JSON. The job is what counts; the rows of its fields are kept beside it,
 * since one that has no name yet is none of the job's. What the form has no place for stays as it is.
 */

import type { JobInput } from "../../../../src/client/client.ts";
import type { FieldType, Rule, Rules } from "../../../../src/extract/rules.ts";

export type FieldRow = {
  /** Tells rows apart while their names are typed. */
  key: number;
  name: string;
  select: string;
  type: FieldType;
  isRequired: boolean;
  isList: boolean;
  match: string;
  /** A rule that the form has no room for: it is written as JSON. */
  whole?: Rule;
};

export type Draft = { job: JobInput; rows: readonly FieldRow[]; each: string };

export const FIELD_TYPES = [
  "text",
  "number",
  "integer",
  "boolean",
  "url",
  "date",
  "html",
  "json",
] as const satisfies readonly FieldType[];

const EACH = "$each";

export function newDraft(): Draft {
  return { job: { urls: [] }, rows: [{ ...newRow(1), name: "title", select: "h1" }], each: "" };
}

export function newRow(key: number): FieldRow {
  return { key, name: "", select: "", type: "text", isRequired: false, isList: false, match: "" };
}

export function draftOf({ extract, ...job }: JobInput): Draft {
  const { [EACH]: each, ...fields } = (extract ?? {}) as Rules;
  const rows = Object.entries(fields).map(([name, rule], nth) => rowOf(nth + 1, name, rule));
  return { job, rows, each: typeof each === "string" ? each : "" };
}

/** The job as it would be submitted. */
export function jobOf({ job, rows, each }: Draft): JobInput {
  const extract = extractOf({ rows, each });
  return withoutEmpty({ ...job, ...(extract === undefined ? {} : { extract }) });
}

/** Undefined without a field: then every page gives its title, its text and its links. */
export function extractOf({ rows, each }: Pick<Draft, "rows" | "each">): Rules | undefined {
  const named = rows.filter(({ name, select, whole }) => name !== "" && (select !== "" || whole !== undefined));
  if (named.length === 0) return undefined;
  const fields = Object.fromEntries(named.map((row) => [row.name, ruleOf(row)]));
  return each === "" ? fields : { [EACH]: each, ...fields };
}

/** Names that two rows have: the later would take the place of the earlier. */
export function doubledNames(rows: readonly FieldRow[]): ReadonlySet<string> {
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

/** Parts of the form that say nothing are no part of the job. */
function withoutEmpty(job: JobInput): JobInput {
  const isSaid = (value: unknown) =>
    value !== undefined &&
    (typeof value !== "object" || value === null || Array.isArray(value) || Object.keys(value).length > 0);
  const entries = Object.entries(job).filter(([key, value]) => key === "follow" || isSaid(value));
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as JobInput;
}
