/** One tried page, for a person to read. */
import type { Page } from "../../domain/page.ts";
import type { Extraction } from "../../extract/extractor.ts";
import { formatBytes, shorten, table } from "../terminal.ts";
import type { TriedPage } from "./try-page.ts";

const LINKS_SHOWN = 10;
const VALUE_WIDTH = 100;

export function showPage({ hops, charset }: TriedPage, page: Page, { records, invalid, links }: Extraction): string {
  const facts = [
    ["status", String(page.status)],
    ["type", `${page.contentType ?? "not said"} (read as ${charset})`],
    ["size", `${formatBytes(page.bodyBytes)} in ${Math.round(page.tookMs)} ms`],
    ...hops.map((hop) => ["redirected", hop]),
  ];
  return [
    `${page.url}\n${table(facts.map((row) => ["", ...row]))}`,
    ...records.map((record, index) => `\nrecord ${index + 1} of ${records.length}\n${fieldsTable(record)}`),
    ...invalid.map(({ fields, reason }) => `\ninvalid record: ${reason}\n${fieldsTable(fields)}`),
    records.length + invalid.length === 0 ? "\nno record: nothing matched\n" : "",
    `\n${links.length} links${links.length > LINKS_SHOWN ? `, the first ${LINKS_SHOWN}` : ""}\n`,
    ...links.slice(0, LINKS_SHOWN).map((link) => `  ${link}\n`),
  ].join("");
}

function fieldsTable(fields: Record<string, unknown>): string {
  return table(Object.entries(fields).map(([name, value]) => ["", name, valueText(value)]));
}

function valueText(value: unknown): string {
  if (Array.isArray(value) && value.length > 5)
    return `${value.length} values, the first: ${shorten(JSON.stringify(value[0]), 60)}`;
  return shorten(JSON.stringify(value), VALUE_WIDTH);
}
